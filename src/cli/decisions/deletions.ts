import type { Command } from 'commander';
import {
  idsShown,
  readDisappearances,
  type Disappearances,
  type ShownHold,
} from '../../store/records/deletion-store.ts';
import { deletionOperations } from '../../operations/deletions.ts';
import { disappearances } from '../../checks/status-document.ts';
import { documentOf } from '../../lib/json/document.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { rememberShown } from '../../store/records/hold-store.ts';
import { HOLD_WORDS, heldBecause } from '../../words/holds.ts';
import { createCommand, type CommandContext } from '../parts/command.ts';
import { textTable, type Printed } from '../parts/io.ts';
import { readingCommand, withOperations } from '../parts/operation-command.ts';

export function deletionsCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list records that disappeared, and what each waits for');
  readingCommand(context, list, async ({ session }) => {
    const found = await readDisappearances(session);
    for (const { kind, state, check } of found.deletions)
      if (state === 'held' && check !== undefined)
        await session.atomically((tx) => rememberShown(tx, kind, check)); // An approval without a check means these records.
    return [documentOf(disappearances, found), absenceTexts(found)];
  });
  const deletions = createCommand('deletions').addCommand(list, { isDefault: true });
  return withOperations(context, deletions, deletionOperations, { approve: { lines: newerLines } });
}

const newerLines = ({ kind, newer }: JsonObject): readonly string[] =>
  typeof newer === 'number' && typeof kind === 'string'
    ? [`${newer} more records of ${kind} are on hold since then: bms-sync deletions`]
    : [];

function* absenceTexts(disappearances: Disappearances): Iterable<Printed> {
  const { deletions, suspected } = disappearances;
  if (deletions.length === 0) yield 'No deletions are on hold.';
  else {
    const rows = deletions.map((hold) => [hold.kind, hold.state, hold.records, hold.since, idsShown(hold)]);
    yield textTable(['kind', 'state', 'records', 'the first since (UTC)', 'ids'], rows);
  }
  if (deletions.some(({ ids, records }) => ids.length < records))
    yield 'The page /deletions and the table deletions have all ids.';
  if (deletions.some((deletion) => deletion.state === 'held'))
    yield '\nCheck whether they are gone from the service, then run: bms-sync deletions approve|reject KIND';
  for (const { kind, check, state, why = null } of deletions) {
    if (state === 'held' || why !== null) yield `${kind}: ${heldBecause(why)}.`;
    if (state === 'held' && check !== undefined)
      yield `To approve exactly these: bms-sync deletions approve ${kind} --only ${check}`;
  }
  yield* disappearedTexts(suspected);
}

const IDS_SHOWN = 5;

/** Lists records that disappeared without proof of deletion, and the next step; yields nothing for none. */
export function* disappearedTexts(groups: readonly ShownHold[]): Iterable<Printed> {
  if (groups.length === 0) return;
  yield '\nNo longer listed, and still in the mirror:';
  const rows = groups.map((group) => {
    const { kind, state, records, since } = group;
    return [kind, state, records, since, idsShown(group, IDS_SHOWN), HOLD_WORDS[state] ?? null];
  });
  yield textTable(['kind', 'state', 'records', 'the first since (UTC)', 'ids', 'next'], rows);
}
