import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import type { Entry } from '../store/outbox/outbox-store.ts';
import type { Session } from '../db/session/session.ts';
import { pushedDocument } from '../outbound/decisions/entry-document.ts';
import { readSendStop, showStanding, waitForEntries } from '../outbound/decisions/entry-list.ts';
import { checkEntries, readBatch, type EntryRequest } from '../outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../outbound/intake/intake.ts';
import { previewEntry, type Preview } from '../outbound/intake/preview.ts';
import {
  EXIT,
  createCommand,
  type CommonOptions,
  type CommandContext,
  type ExitCode,
} from './parts/command.ts';
import { jsonOption, readStdin, parseWholeNumber } from './parts/input.ts';
import { printLine } from './parts/io.ts';
import { commandLineDecider, operationParts } from './parts/operation-command.ts';
import { previewDocument, previewTexts, pushedTexts } from './parts/push-print.ts';

const TIMEOUT_SECONDS = 60;

interface PushOptions extends CommonOptions {
  readonly batch?: true;
  readonly dryRun?: true;
  readonly wait?: true;
  readonly allowUnknown?: true;
  readonly allowDouble?: true;
  readonly timeout?: number;
  readonly data?: string;
  readonly base?: string;
  readonly key?: string;
}

export function pushCommand(context: CommandContext): Command {
  const create = pushOptions('create', 'queue a record to be created').argument('<kind>', 'record kind');
  const update = pushOptions('update', 'queue an update of a record')
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .option('--base <json>', "the record as you saw it (default: the mirror's row)");
  for (const command of [create, update])
    command
      .requiredOption('--data <json>', 'the fields, a JSON object or @file')
      .option('--key <key>', 'your own key: the same key is queued only once');
  create.action((kind: string) => pushOne(context, { operation: 'create', kind }, create.optsWithGlobals()));
  update.action((kind: string, id: string) =>
    pushOne(context, { operation: 'update', kind, id }, update.optsWithGlobals()),
  );
  return pushOptions('push')
    .option('--batch', 'read entries from stdin, one JSON object per line')
    .addCommand(create)
    .addCommand(update)
    .action(async (options: PushOptions) => {
      if (!options.batch)
        throw new UsageError('Use one of: push create KIND, push update KIND ID, push --batch.', {
          code: 'usage.push',
          hint: 'bms-sync push --help',
        });
      const requests = await readBatch(await readStdin(context.io));
      if (requests.length === 0) printLine(context.io.stderr, 'The batch is empty: nothing was stored.');
      await checkAndStore(context, options, requests);
    });
}

const pushOptions = (name: string, summary?: string): Command =>
  createCommand(name, summary)
    .option('--dry-run', 'show what would be sent; store and send nothing')
    .option('--allow-unknown', 'also send fields that are neither documented nor seen')
    .option('--allow-double', 'create it even if a record has the same natural key')
    .option('--wait', 'wait for the answer of the service')
    .option('--timeout <seconds>', `how long to wait (default: ${TIMEOUT_SECONDS})`, parseWholeNumber);

async function pushOne(
  context: CommandContext,
  target: { readonly operation: string; readonly kind: string; readonly id?: string },
  options: PushOptions,
): Promise<void> {
  if (options.batch) throw new UsageError('--batch reads its entries from stdin.', { code: 'usage.push' });
  const { data, base, key } = options;
  const request = {
    ...target,
    data: data === undefined ? undefined : jsonOption('--data', data),
    base: base === undefined ? undefined : jsonOption('--base', base),
    key,
  };
  await checkAndStore(context, options, [request]);
}

/** Checks the requests; then previews or stores them, all or none. */
async function checkAndStore(
  context: CommandContext,
  options: PushOptions,
  rawRequests: readonly EntryRequest[],
): Promise<void> {
  // A line of a batch may have permissions of its own.
  const requests = rawRequests.map(
    ({ allowUnknown = options.allowUnknown, allowDouble = options.allowDouble, ...request }) => {
      return { ...request, allowUnknown, allowDouble };
    },
  );
  const config = await context.keptSettings(options);
  await using session = await openMirrorFor(config, requests);
  const checked = await checkRequests(session, allKinds(config), requests);
  if (options.dryRun) {
    const previews: Preview[] = [];
    for (const entry of checked) previews.push(await previewEntry(session, entry));
    const texts = previews.flatMap((preview) => [...previewTexts(preview)]);
    context.printResult(options, pushResult(options, previews.map(previewDocument)), texts);
    return;
  }
  const stored = await storeChecked(session, checked, systemClock.now(), commandLineDecider());
  const reader = operationParts(context, config, session);
  const stop = await readSendStop(reader);
  const isQueued = stored.some((entry) => entry.state === 'ready');
  if (stop !== null && !options.wait && isQueued) printLine(context.io.stderr, `Queued. ${stop.note}`);
  const ids = stored.map((entry) => entry.id);
  const { timeout = TIMEOUT_SECONDS } = options;
  const timeoutMs = stop === null ? timeout * 1000 : 0; // Nothing would come of waiting.
  const waiting = { clock: systemClock, timeoutMs, signal: context.io.signal };
  const read = options.wait ? await waitForEntries(session, ids, waiting) : [];
  const outcomes = await showStanding(reader, read);
  context.exit(exitCodeOfPush(outcomes));
  const pushed = stored.map((entry) => ({
    entry,
    outcome: outcomes.find((outcome) => outcome.id === entry.id),
  }));
  const documents = pushed.map(({ entry, outcome }) => pushedDocument(entry, outcome));
  const texts = pushed.flatMap(({ entry, outcome }) => [...pushedTexts(entry, outcome)]);
  context.printResult(options, pushResult(options, documents), texts);
}

const pushResult = (options: PushOptions, documents: readonly object[]): object | null =>
  options.batch ? { entries: documents } : (documents[0] ?? null);

/** Opens the mirror; the faults of requests that no mirror could take are reported even if there is none. */
async function openMirrorFor(config: Config, requests: readonly EntryRequest[]): Promise<Session> {
  try {
    return await openExistingMirror(config);
  } catch (error) {
    const lenient = requests.map((request) => ({ ...request, allowUnknown: true }));
    await checkEntries(allKinds(config), lenient, new Map());
    throw error;
  }
}

/** Entries that the service refused or a person abandoned have failed; those under way, or waiting for a person, are incomplete. */
function exitCodeOfPush(outcomes: readonly Entry[]): ExitCode {
  if (outcomes.every((outcome) => outcome.state === 'done')) return EXIT.done;
  const ended = ['done', 'rejected', 'abandoned'];
  return outcomes.every((outcome) => ended.includes(outcome.state)) ? EXIT.failed : EXIT.incomplete;
}
