import { Option } from 'commander';
import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/time/clock.ts';
import type { EntryState } from '../mirror/outbox/outbox-store.ts';
import type { Session } from '../mirror/session/session.ts';
import { abandonEntry, adoptRecord, retryEntry } from '../outbound/decisions/decide.ts';
import type { DecidedEntry } from '../outbound/decisions/decide.ts';
import {
  OPEN_STATES,
  STATES,
  entryDocument,
  historyDocument,
  listOutbox,
  readHistory,
} from '../outbound/decisions/entry-list.ts';
import { explain } from '../outbound/decisions/verdicts.ts';
import { resumeSends } from '../outbound/freeze.ts';
import { openSendMark } from '../outbound/send-mark.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { wholeNumber } from './parts/input.ts';
import { printExactJson, printJson, printLine } from './parts/io.ts';
import { printHistory, printOutbox } from './parts/outbox-print.ts';

const LISTED = 50;

interface ListOptions extends CommonOptions {
  readonly all?: true;
  readonly state?: EntryState;
  readonly limit?: number;
}

export function outboxCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list open, parked and rejected entries; those that need you first')
    .option('--all', 'list done and abandoned entries too')
    .addOption(new Option('--state <state>', 'only entries in this state').choices(STATES))
    .option('--limit <n>', `at most so many (default: ${LISTED})`, wholeNumber)
    .action((_: ListOptions, command: Command) => runList(context, command.optsWithGlobals()));
  const show = createCommand('show', 'show one entry with its attempts and your next steps')
    .argument('<id>', 'the number of the entry', wholeNumber)
    .action((id: number, _: CommonOptions, command: Command) =>
      runShow(context, id, command.optsWithGlobals()),
    );
  const resume = createCommand('resume', 'let sends go on after a database was restored').action(
    (_: CommonOptions, command: Command) => runResume(context, command.optsWithGlobals()),
  );
  return createCommand('outbox', 'show the changes for the service, and decide on those that are stuck')
    .addCommand(list, { isDefault: true })
    .addCommand(show)
    .addCommand(decisionCommand(context, 'retry', 'give a parked or rejected entry another try'))
    .addCommand(adoptCommand(context))
    .addCommand(decisionCommand(context, 'abandon', 'give an entry up: nothing more is sent for it'))
    .addCommand(resume);
}

function decisionCommand(context: CommandContext, is: 'retry' | 'abandon', summary: string): Command {
  const decide = is === 'retry' ? retryEntry : abandonEntry;
  return createCommand(is, summary)
    .argument('<id>', 'the number of the entry', wholeNumber)
    .action((id: number, _: CommonOptions, command: Command) =>
      runDecision(context, command.optsWithGlobals(), (session) => decide(session, id, systemClock.now())),
    );
}

function adoptCommand(context: CommandContext): Command {
  const adopt = createCommand('adopt', 'say which record of the mirror a create has made')
    .argument('<id>', 'the number of the entry', wholeNumber)
    .argument('<record>', 'id of the record');
  return adopt.action((id: number, recordId: string) =>
    runDecision(context, adopt.optsWithGlobals(), (session, config) =>
      adoptRecord(session, { kinds: allKinds(config), id, recordId, now: systemClock.now() }),
    ),
  );
}

async function runList(context: CommandContext, options: ListOptions): Promise<void> {
  const { state, all, limit = LISTED, json } = options;
  const states = state === undefined ? (all ? STATES : OPEN_STATES) : [state];
  await using session = await openExistingMirror(settingsOf(context, options));
  const listed = await listOutbox(session, { states, limit });
  if (!json) {
    printOutbox(context.io.stdout, listed);
    return;
  }
  const { entries, blockedKinds, frozen } = listed;
  printExactJson(context.io.stdout, {
    entries: entries.map(entryDocument),
    blockedKinds: blockedKinds.map((block) => ({ ...block })),
    frozen: frozen && { ...frozen },
  });
}

async function runShow(context: CommandContext, id: number, options: CommonOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  const history = await readHistory(session, id);
  if (options.json) printExactJson(context.io.stdout, historyDocument(history));
  else printHistory(context.io.stdout, history);
}

async function runDecision(
  context: CommandContext,
  options: CommonOptions,
  decide: (session: Session, config: Config) => Promise<DecidedEntry>,
): Promise<void> {
  const config = settingsOf(context, options);
  await using session = await openExistingMirror(config);
  const { entry, warning } = await decide(session, config);
  const { stdout } = context.io;
  if (options.json) {
    printExactJson(stdout, { ...entryDocument(entry), warning });
    return;
  }
  printLine(stdout, `Entry ${entry.id} is ${entry.state}. ${explain(entry).meaning}`);
  if (warning !== null) printLine(stdout, warning);
}

async function runResume(context: CommandContext, options: CommonOptions): Promise<void> {
  const config = settingsOf(context, options);
  await using session = await openExistingMirror(config);
  const mark = await openSendMark(session, config.queue.url);
  const frozen = await mark
    .read()
    .then((sends) => resumeSends(session, sends ?? 0))
    .finally(() => {
      mark.close();
    });
  const { stdout } = context.io;
  if (options.json) printJson(stdout, { wasFrozen: frozen !== null, ...frozen });
  else if (frozen === null) printLine(stdout, 'Nothing was frozen.');
  else printLine(stdout, `Sends go on. They were frozen since ${frozen.since} UTC: ${frozen.reason}.`);
}
