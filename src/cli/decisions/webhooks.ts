import { Option, type Command } from 'commander';
import { openMirror } from '../../app/open-mirror.ts';
import type { EndpointTest } from '../../events/webhooks/test-event.ts';
import {
  endpointDocuments,
  endpointList,
  FORMATS,
  type EndpointDocument,
  type RevealedSecret,
} from '../../events/webhooks/endpoints.ts';
import { documentOf } from '../../lib/json/document.ts';
import { compactJson } from '../../lib/json/json.ts';
import { LANGUAGES } from '../../lib/text/translator.ts';
import { addWebhook, webhookOperations } from '../../operations/webhooks.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../parts/command.ts';
import { textTable, type Printed } from '../parts/io.ts';
import { operationParts, readingCommand, withOperations } from '../parts/operation-command.ts';

export function webhooksCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the endpoints, with their waiting deliveries');
  readingCommand(context, list, async ({ session }) => {
    const endpoints = await endpointDocuments(session, 'admin');
    return [documentOf(endpointList, { endpoints }), endpointTexts(endpoints)];
  });
  const webhooks = createCommand('webhooks')
    .addCommand(list, { isDefault: true })
    .addCommand(addCommand(context));
  const others = webhookOperations.filter((operation) => operation !== addWebhook);
  return withOperations(context, webhooks, others, {
    rotate: { lines: secretLines },
    replay: {
      lines: ({ events }) => [`Events to send: ${compactJson(events ?? null)}.`],
      hasWorked: ({ events }) => events !== 0,
    },
    test: { lines: testLines, hasFailed: (document) => !document['delivered'] },
  });
}

function* endpointTexts(endpoints: readonly EndpointDocument[]): Iterable<Printed> {
  if (endpoints.length === 0) {
    yield 'No webhook endpoints. To add one: bms-sync webhooks add URL --name NAME';
    return;
  }
  const filters = ['kinds', 'changes', 'fields'] as const;
  const rows = endpoints.map((endpoint) => {
    const { name, health, url, cursor, pending, nextAttemptAt, deliveredAt } = endpoint;
    const filter = filters.map((list) => endpoint[list]?.join(',') ?? 'all');
    return [name, health, url, ...filter, cursor, pending, nextAttemptAt, deliveredAt];
  });
  const counts = ['up to seq', 'waiting', 'next attempt (UTC)', 'last accepted (UTC)'];
  yield textTable(['name', 'health', 'url', ...filters, ...counts], rows);
  for (const { name, disabledReason } of endpoints) {
    if (disabledReason === null) continue;
    yield `\n${name} is disabled (${disabledReason}). ${enabling(name)}`;
  }
}

const enabling = (name: string): string => `To send it what waits: bms-sync webhooks enable ${name}`;

function secretLines(document: object): readonly string[] {
  const { name, secret } = document as RevealedSecret;
  return [`${name} checks signatures with this secret, which is not shown again:`, secret];
}

/** The reasons for which a receiver cannot have answered. */
const FAULTS: Readonly<Record<string, string>> = {
  'mail.unset': 'SMTP_URL is not set',
  address_refused: 'its address is not public; allow it in webhooks.allowHosts, and restart bms-sync serve',
  no_secret: 'it has no secret; bms-sync webhooks rotate makes one',
  timeout: 'no answer in time',
  no_status: 'the mail server answered without a status',
};

/** Describes how a receiver answered a test event. */
function testLines(document: object): readonly string[] {
  const { name, state, status, error, delivered, durationMs } = document as EndpointTest;
  const cause =
    status === null
      ? (FAULTS[error ?? ''] ?? `it could not be reached (${error ?? ''})`)
      : `it answered ${status}`;
  const end = delivered
    ? `${name} accepted the event (${status ?? ''}) after ${durationMs} ms.`
    : `Delivery to ${name} failed: ${cause}.`;
  const next = state === 'active' ? '' : ` The endpoint is disabled. ${enabling(name)}`;
  return [end, `This command sent it, with its own network and webhooks.allowHosts.${next}`];
}

function addCommand(context: CommandContext): Command {
  const about = (name: string): string => addWebhook.input.shape[name]?.description ?? '';
  return createCommand(addWebhook.name, addWebhook.summary)
    .argument('<url>', about('url'))
    .requiredOption('--name <name>', about('name'))
    .option('--kinds <kinds>', about('kinds'), namesIn)
    .option('--changes <changes>', about('changes'), namesIn)
    .option('--fields <fields>', about('fields'), namesIn)
    .addOption(new Option('--format <format>', about('format')).choices(FORMATS).default('json'))
    .addOption(new Option('--language <language>', about('language')).choices(LANGUAGES))
    .action(async (url: string, _: CommonOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & Readonly<Record<string, unknown>>>();
      const config = await context.keptSettings(options);
      await using session = await openMirror(config); // Creates the mirror if there is none.
      const members = Object.keys(addWebhook.input.shape).map((member) => [member, options[member]] as const);
      const input = { ...Object.fromEntries(members), url };
      const revealed = await addWebhook.run(operationParts(context, config, session), input);
      const { name, format } = options;
      const added = `Added: ${String(name)} gets notifications from now on. To try it: bms-sync webhooks test ${String(name)}`;
      context.printResult(options, revealed, format === 'json' ? secretLines(revealed) : [added]); // People check no signature.
    });
}

const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
