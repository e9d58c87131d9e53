import { HOLD_WORDS, idsShown } from '../../app/commands/deletions.ts';
import type { ShownHold } from '../../app/commands/deletions.ts';
import { printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

const IDS_SHOWN = 5;

/** Prints the records that disappeared and are not proven to be gone, with what happens to them next; nothing for none. */
export function printDisappeared(stdout: Output, groups: readonly ShownHold[]): void {
  if (groups.length === 0) return;
  printLine(stdout, '\nNo longer listed, and still in the mirror:');
  const header = ['kind', 'state', 'records', 'missing since (UTC)', 'ids', 'next'];
  const rows = groups.map((group) => [
    ...[group.kind, group.state, group.records, group.since],
    ...[idsShown(group, IDS_SHOWN), HOLD_WORDS[group.state] ?? null],
  ]);
  printLine(stdout, textTable(header, rows));
}
