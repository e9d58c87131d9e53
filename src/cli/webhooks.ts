import { Option } from 'commander';
import type { Command } from 'commander';
import { openExistingMirror, openMirror } from '../app/open-mirror.ts';
import type { EndpointTest } from '../feed/webhooks/endpoint-activity.ts';
import { endpointDocuments } from '../feed/webhooks/endpoints.ts';
import type { RevealedSecret } from '../feed/webhooks/endpoints.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { add, FORMATS, remove, replay, rotate, test } from '../operations/webhooks.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine } from './parts/io.ts';
import { operationCommand, partsOf } from './parts/operation-command.ts';
import { printEndpoints, secretLines, testText } from './parts/webhooks-print.ts';

interface AddOptions extends CommonOptions {
  readonly name: string;
  readonly kinds?: string;
  readonly changes?: string;
  readonly fields?: string;
  readonly format: string;
}

export function webhooksCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the receivers of events, with their waiting deliveries').action(
    (_: CommonOptions, command: Command) => runList(context, command.optsWithGlobals()),
  );
  return createCommand('webhooks', 'send events to receivers by HTTP')
    .addCommand(list, { isDefault: true })
    .addCommand(addCommand(context))
    .addCommand(operationCommand(context, remove))
    .addCommand(operationCommand(context, rotate, { lines: secretOf }))
    .addCommand(operationCommand(context, replay))
    .addCommand(operationCommand(context, test, { lines: testOf, hasFailed: (told) => !told['delivered'] }));
}

const secretOf = (document: JsonObject): readonly string[] =>
  secretLines(document as unknown as RevealedSecret);
const testOf = (document: JsonObject): readonly string[] => [testText(document as unknown as EndpointTest)];

function addCommand(context: CommandContext): Command {
  const about = (name: string): string => add.input.shape[name]?.description ?? '';
  return createCommand(add.name, add.words.summary)
    .argument('<url>', about('url'))
    .requiredOption('--name <name>', about('name'))
    .option('--kinds <kinds>', about('kinds'))
    .option('--changes <changes>', about('changes'))
    .option('--fields <fields>', about('fields'))
    .addOption(new Option('--format <format>', about('format')).choices(FORMATS).default('json'))
    .action((url: string, _: AddOptions, command: Command) =>
      runAdd(context, url, command.optsWithGlobals()),
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
  const { name, format, json } = options;
  const lists = {
    kinds: namesOf(options.kinds),
    changes: namesOf(options.changes),
    fields: namesOf(options.fields),
  };
  await using session = await openMirror(config);
  const revealed = await add.run(partsOf(context, config, session), { name, url, format, ...lists });
  if (json) printJson(context.io.stdout, revealed);
  else for (const line of secretOf(revealed)) printLine(context.io.stdout, line);
}

/** The names of a list on the command line; null = all. */
function namesOf(list: string | undefined): readonly string[] | null {
  if (list === undefined) return null;
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}
