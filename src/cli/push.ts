import type { Command } from 'commander';
import { previewPush, push, readBatch, waitForOutcomes, whyUnsent } from '../app/commands/push.ts';
import type { EntryRequest, Outcome } from '../app/commands/push.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';
import { createCommand, settingsOf, wholeNumber, exitCodeOfPush } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printExactJson, printLine } from './parts/io.ts';
import { previewDocument, printPreview, printPushed, pushedDocument } from './parts/push-print.ts';
import { jsonOption, readStdin } from './parts/input.ts';

const TIMEOUT_SECONDS = 60;

interface PushOptions extends CommonOptions {
  readonly batch?: true;
  readonly dryRun?: true;
  readonly wait?: true;
  readonly allowUnknown?: true;
  readonly timeout?: number;
  readonly data?: string;
  readonly base?: string;
  readonly key?: string;
}

export function pushCommand(context: CommandContext): Command {
  const create = pushOptions('create', 'queue a record to be created').argument('<kind>', 'record kind');
  const update = pushOptions('update', 'queue fields of a record to be changed')
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .option('--base <json>', "what you saw before (default: the mirror's row)");
  for (const command of [create, update])
    command
      .requiredOption('--data <json>', 'the fields, a JSON object or @file')
      .option('--key <key>', 'your own name for it: the same key is queued once');
  return pushOptions('push', 'queue creates and updates for the service')
    .option('--batch', 'read entries from stdin, one JSON object a line')
    .addCommand(
      create.action((kind: string) =>
        pushOne(context, { operation: 'create', kind }, create.optsWithGlobals()),
      ),
    )
    .addCommand(
      update.action((kind: string, id: string) =>
        pushOne(context, { operation: 'update', kind, id }, update.optsWithGlobals()),
      ),
    )
    .action((options: PushOptions) => pushBatch(context, options));
}

const pushOptions = (name: string, summary: string): Command =>
  createCommand(name, summary)
    .option('--dry-run', 'show what would be sent; store and send nothing')
    .option('--allow-unknown', 'send fields that are neither documented nor were ever seen, too')
    .option('--wait', 'wait until the service has answered')
    .option('--timeout <seconds>', `how long to wait (default: ${TIMEOUT_SECONDS})`, wholeNumber);

type Target = Pick<EntryRequest, 'operation' | 'kind' | 'id'>;

async function pushOne(context: CommandContext, target: Target, options: PushOptions): Promise<void> {
  if (options.batch) throw new UsageError('--batch takes its entries from stdin.', { code: 'usage.push' });
  const { data, base, key } = options;
  const request = {
    ...target,
    data: data === undefined ? undefined : jsonOption('--data', data),
    base: base === undefined ? undefined : jsonOption('--base', base),
    key,
  };
  await run(context, { requests: [allowing(request, options)], isBatch: false, options });
}

async function pushBatch(context: CommandContext, options: PushOptions): Promise<void> {
  if (!options.batch)
    throw new UsageError('push takes one of create KIND, update KIND ID and --batch.', {
      ...{ code: 'usage.push', hint: 'bms-sync push --help' },
    });
  const requests = readBatch(await readStdin(context.io)).map((request) => allowing(request, options));
  await run(context, { requests, isBatch: true, options });
}

/** A line of a batch may say for itself whether unknown fields are sent. */
const allowing = (request: EntryRequest, { allowUnknown }: PushOptions): EntryRequest =>
  request.allowUnknown === undefined ? { ...request, allowUnknown } : request;

interface Job {
  readonly requests: readonly EntryRequest[];
  readonly isBatch: boolean;
  readonly options: PushOptions;
}

async function run(context: CommandContext, job: Job): Promise<void> {
  if (job.options.dryRun) await preview(context, job);
  else await store(context, job);
}

async function preview(context: CommandContext, { requests, isBatch, options }: Job): Promise<void> {
  const { stdout } = context.io;
  const previews = await previewPush(settingsOf(context, options), requests);
  const documents = previews.map(previewDocument);
  if (options.json) printExactJson(stdout, isBatch ? { entries: documents } : (documents[0] ?? null));
  else for (const one of previews) printPreview(stdout, one);
}

async function store(context: CommandContext, { requests, isBatch, options }: Job): Promise<void> {
  const { stdout, stderr } = context.io;
  const config = settingsOf(context, options);
  const stored = await push(config, requests);
  const isDoubtful = !options.wait && config.outbound.writes === 'off';
  const reason = isDoubtful ? await whyUnsent(config) : null;
  if (reason !== null) printLine(stderr, `Queued; ${reason}`);
  const ids = stored.map(({ id }) => id);
  const outcomes = options.wait ? await awaitOutcomes(context, { config, ids, options }) : [];
  const pushed = stored.map((entry) => ({ entry, outcome: outcomes.find(({ id }) => id === entry.id) }));
  const documents = pushed.map(pushedDocument);
  if (options.json) printExactJson(stdout, isBatch ? { entries: documents } : (documents[0] ?? null));
  else for (const one of pushed) printPushed(stdout, one);
  context.exit(exitCodeOfPush(outcomes));
}

interface Awaited {
  readonly config: Config;
  readonly ids: readonly number[];
  readonly options: PushOptions;
}

/** Waits for entries; where nothing is sent, only says why and reads their states once. */
async function awaitOutcomes(
  { io: { stderr, signal } }: CommandContext,
  { config, ids, options }: Awaited,
): Promise<readonly Outcome[]> {
  const { timeout: patience = TIMEOUT_SECONDS } = options;
  const reason = await whyUnsent(config);
  const seconds = reason === null ? patience : 0;
  const outcomes = await waitForOutcomes(config, ids, { seconds, signal });
  if (reason !== null && outcomes.some(isOnItsWay)) printLine(stderr, `Queued, not waited for: ${reason}`);
  return outcomes;
}

const isOnItsWay = ({ state }: Outcome): boolean => ['ready', 'sending', 'unsettled'].includes(state);
