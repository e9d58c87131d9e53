import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { HOLD_WORDS, idsShown, readDisappearances } from '../mirror/records/deletion-store.ts';
import type { Disappearances, ShownHold } from '../mirror/records/deletion-store.ts';
import { approve, reject } from '../operations/deletions.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';
import { operationCommand } from './parts/operation-command.ts';

export function deletionsCommand(context: CommandContext): Command {
  const list = createCommand(
    'list',
    'list what disappeared: what waits for you, and what waits for proof',
  ).action((_: CommonOptions, command: Command) => runList(context, command.optsWithGlobals()));
  return createCommand('deletions', 'decide on records that disappeared all at once')
    .addCommand(list, { isDefault: true })
    .addCommand(operationCommand(context, approve))
    .addCommand(operationCommand(context, reject));
}

async function runList(context: CommandContext, options: CommonOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  const found = await readDisappearances(session);
  if (options.json) printJson(context.io.stdout, found);
  else printAbsences(context.io.stdout, found);
}

function printAbsences(stdout: Output, { deletions, suspected }: Disappearances): void {
  if (deletions.length === 0) printLine(stdout, 'Nothing is held.');
  else printHolds(stdout, deletions);
  printDisappeared(stdout, suspected);
}

function printHolds(stdout: Output, holds: Disappearances['deletions']): void {
  const rows = holds.map((hold) => [hold.kind, hold.state, hold.records, hold.since, idsShown(hold)]);
  printLine(stdout, textTable(['kind', 'state', 'records', 'missing since (UTC)', 'ids'], rows));
  if (holds.some(({ state }) => state === 'held'))
    printLine(
      stdout,
      '\nLook whether they are gone from the service, then: bms-sync deletions approve|reject KIND.',
    );
}

const IDS_SHOWN = 5;

/** Prints the records that disappeared and are not proven to be gone, with what happens to them next; nothing for none. */
export function printDisappeared(stdout: Output, groups: readonly ShownHold[]): void {
  if (groups.length === 0) return;
  printLine(stdout, '\nNo longer listed, and still in the mirror:');
  const header = ['kind', 'state', 'records', 'missing since (UTC)', 'ids', 'next'];
  const rows = groups.map((group) => [
    group.kind,
    group.state,
    group.records,
    group.since,
    idsShown(group, IDS_SHOWN),
    HOLD_WORDS[group.state] ?? null,
  ]);
  printLine(stdout, textTable(header, rows));
}
