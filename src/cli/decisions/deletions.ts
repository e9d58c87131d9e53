import type { Command } from 'commander';
import { openExistingMirror } from '../../app/open-mirror.ts';
import {
  idsShown,
  readDisappearances,
  type Disappearances,
  type ShownHold,
} from '../../store/records/deletion-store.ts';
import { approveDeletions, rejectDeletions } from '../../operations/deletions.ts';
import { disappearances } from '../../checks/status-document.ts';
import { documentOf } from '../../lib/json/document.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { rememberShown } from '../../store/records/hold-store.ts';
import { HOLD_WORDS, heldBecause } from '../../words/holds.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../parts/command.ts';
import { textTable, type Printed } from '../parts/io.ts';
import { operationCommand } from '../parts/operation-command.ts';

export function deletionsCommand(context: CommandContext): Command {
  const summary = 'list records that disappeared, and what each waits for';
  const list = createCommand('list', summary).action(async (_: CommonOptions, command: Command) => {
    const options: CommonOptions = command.optsWithGlobals();
    await using session = await openExistingMirror(context.settings(options));
    const found = await readDisappearances(session);
    for (const { kind, state, check } of found.deletions)
      if (state === 'held' && check !== undefined)
        await session.atomically((tx) => rememberShown(tx, kind, check)); // An approval without a check means these records.
    context.printResult(options, documentOf(disappearances, found), absenceTexts(found));
  });
  return createCommand('deletions')
    .addCommand(list, { isDefault: true })
    .addCommand(operationCommand(context, approveDeletions, { lines: newerLines }))
    .addCommand(operationCommand(context, rejectDeletions));
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
    yield textTable(['kind', 'state', 'records', 'missing since (UTC)', 'ids'], rows);
  }
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
  yield textTable(['kind', 'state', 'records', 'missing since (UTC)', 'ids', 'next'], rows);
}
