import { Option } from 'commander';
import type { Command } from 'commander';
import { openExistingMirror, openMirror } from '../app/open-mirror.ts';
import { kindNamed } from '../config/known-kinds.ts';
import { replayEvents, testEndpoint } from '../feed/webhooks/endpoint-activity.ts';
import { addEndpoint, dropEndpoint, endpointDocuments, rotateSecret } from '../feed/webhooks/endpoints.ts';
import type { RevealedSecret } from '../feed/webhooks/endpoints.ts';
import { UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import type { WebhookFormat } from '../mirror/webhooks/endpoint-store.ts';
import { EXIT, createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { seqNumber } from './parts/input.ts';
import { printJson, printLine } from './parts/io.ts';
import { printEndpoints, printSecret, testText } from './parts/webhooks-print.ts';

interface AddOptions extends CommonOptions {
  readonly name: string;
  readonly kinds?: string;
  readonly changes?: string;
  readonly fields?: string;
  readonly format: WebhookFormat;
}

export function webhooksCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the receivers of events, with their waiting deliveries').action(
    (_: CommonOptions, command: Command) => runList(context, command.optsWithGlobals()),
  );
  return createCommand('webhooks', 'send events to receivers by HTTP')
    .addCommand(list, { isDefault: true })
    .addCommand(addCommand(context))
    .addCommand(
      named('remove', 'send a receiver nothing more, and forget its deliveries', (name, options) =>
        runRemove(context, name, options),
      ),
    )
    .addCommand(
      named(
        'rotate',
        'give a receiver a new secret; the present one stays valid for a day',
        (name, options) => runRotate(context, name, options),
      ),
    )
    .addCommand(replayCommand(context))
    .addCommand(
      named('test', 'send a receiver one test event now', (name, options) => runTest(context, name, options)),
    );
}

function named(
  command: string,
  summary: string,
  run: (name: string, options: CommonOptions) => Promise<void>,
): Command {
  return createCommand(command, summary)
    .argument('<name>', 'name of the endpoint')
    .action((name: string, _: CommonOptions, self: Command) => run(name, self.optsWithGlobals()));
}

function addCommand(context: CommandContext): Command {
  return createCommand('add', 'add a receiver, which gets the events from now on')
    .argument('<url>', 'a public https URL, or one whose host stands in webhooks.allowHosts')
    .requiredOption('--name <name>', 'your name for it: letters, digits, _ and -')
    .option('--kinds <kinds>', 'only events of these record kinds')
    .option('--changes <changes>', `only these changes: ${CHANGES.join(', ')}`)
    .option('--fields <fields>', 'only updates of one of these fields')
    .addOption(
      new Option('--format <format>', 'of a chat room, which is told what may need a person')
        .choices(['json', 'slack', 'teams', 'text'])
        .default('json'),
    )
    .action((url: string, _: AddOptions, command: Command) =>
      runAdd(context, url, command.optsWithGlobals()),
    );
}

function replayCommand(context: CommandContext): Command {
  return createCommand('replay', 'send a receiver all events after a seq again; activate a disabled one')
    .argument('<name>', 'name of the endpoint')
    .requiredOption('--after <seq>', 'events with a higher number; 0 = all that are kept', seqNumber)
    .action((name: string, _: CommonOptions, command: Command) =>
      runReplay(context, name, command.optsWithGlobals()),
    );
}

async function runList(context: CommandContext, options: CommonOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  const endpoints = await endpointDocuments(session);
  if (options.json) printJson(context.io.stdout, { endpoints });
  else printEndpoints(context.io.stdout, endpoints);
}

/** Adds an endpoint; creates the mirror if there is none. */
async function runAdd(context: CommandContext, url: string, options: AddOptions): Promise<void> {
  const config = settingsOf(context, options);
  const { name, format } = options;
  if (!/^[\w-]{1,64}$/.test(name)) throw wrongName(name);
  const wish = {
    name,
    url,
    format,
    kinds: namesOf(options.kinds),
    changes: changesOf(options.changes),
    fields: namesOf(options.fields),
  };
  for (const kind of wish.kinds ?? []) kindNamed(config, kind);
  await using session = await openMirror(config);
  const { allowHosts } = config.webhooks;
  reveal(context, options, await addEndpoint(session, wish, { allowHosts, now: systemClock.now() }));
}

function reveal({ io }: CommandContext, { json }: CommonOptions, revealed: RevealedSecret): void {
  if (json) printJson(io.stdout, revealed);
  else printSecret(io.stdout, revealed);
}

/** The names of a list on the command line; null = all. */
function namesOf(list: string | undefined): readonly string[] | null {
  if (list === undefined) return null;
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

const CHANGES = ['created', 'updated', 'deleted', 'restored'];

/** @throws {UsageError} `usage.change`. */
function changesOf(list: string | undefined): readonly string[] | null {
  const changes = namesOf(list);
  const unknown = (changes ?? []).filter((change) => !CHANGES.includes(change));
  if (unknown.length === 0) return changes;
  throw new UsageError(`There is no change "${unknown.join('", "')}".`, {
    code: 'usage.change',
    hint: `The changes are: ${CHANGES.join(', ')}.`,
  });
}

const wrongName = (name: string): UsageError =>
  new UsageError(`"${name}" is no name of an endpoint.`, {
    code: 'usage.name',
    hint: 'Use letters, digits, _ and -, 64 at most.',
  });

async function runRemove(context: CommandContext, name: string, options: CommonOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  await dropEndpoint(session, name);
  if (options.json) printJson(context.io.stdout, { name, removed: true });
  else printLine(context.io.stdout, `${name} is removed, with its deliveries.`);
}

async function runRotate(context: CommandContext, name: string, options: CommonOptions): Promise<void> {
  const config = settingsOf(context, options);
  await using session = await openExistingMirror(config);
  reveal(context, options, await rotateSecret(session, name, systemClock.now()));
}

interface ReplayOptions extends CommonOptions {
  readonly after: number;
}

async function runReplay(context: CommandContext, name: string, options: ReplayOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  const asked = await replayEvents(session, { name, after: options.after, now: systemClock.now() });
  if (options.json) printJson(context.io.stdout, asked);
  else
    printLine(context.io.stdout, `${name} is sent all events after ${asked.after} again, by bms-sync serve.`);
}

/** Sends an endpoint one test event from this process. */
async function runTest(context: CommandContext, name: string, options: CommonOptions): Promise<void> {
  const { stdout, signal } = context.io;
  const config = settingsOf(context, options);
  await using session = await openExistingMirror(config);
  const { allowHosts } = config.webhooks;
  const parts = { session, clock: systemClock, allowHosts, signal };
  const test = await testEndpoint(parts, name);
  if (!test.delivered) context.exit(EXIT.failed);
  if (options.json) printJson(stdout, test);
  else printLine(stdout, testText(test));
}
