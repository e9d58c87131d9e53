import { personality } from '../personalities.ts';
import type { Personality } from '../personalities.ts';
import type { Recording } from '../recording.ts';
import type { Schedule } from '../schedule.ts';
import { backwards, brokenChains, falseDeletions, phantomEvents } from './events.ts';
import type { KindRecording } from './events.ts';
import { inventedRows, lostRows, unequal, wrongColumns } from './rows.ts';
import { outOfOrder } from './times.ts';
import { wrongUndo } from './undo.ts';
import type { Violation } from './violation.ts';

/** Everything in a recording that the truth contradicts; empty = all is well. */
export function check(recording: Recording): readonly Violation[] {
  const everyPull = [...recording.ledgers.values()].flatMap((ledger) => checkKind(recording, ledger.kind));
  return [...everyPull, ...outOfOrder(recording)];
}

function checkKind({ schedule, ledgers, pulls, changes, lying }: Recording, kind: string): Violation[] {
  const [ledger, last] = [ledgers.get(kind), pulls.at(-1)];
  const dump = last?.after.kinds.get(kind);
  if (!ledger || !last || !dump) throw new TypeError(`Nothing was recorded of ${kind}.`);
  const { promise, changes: own } = personalityOf(schedule, kind);
  const recorded: KindRecording = {
    ledger,
    pulls,
    changes: changes.filter((event) => event.kind === kind),
    mayHide: promise === 'nothing' || own !== undefined,
  };
  const whileLying = promise === 'rows' ? lying?.after.kinds.get(kind) : undefined;
  return [
    ...falseDeletions(recorded),
    ...phantomEvents(recorded),
    ...brokenChains(recorded),
    ...backwards(recorded),
    ...wrongUndo(recorded),
    ...(whileLying && lying ? lostRows(ledger, whileLying, lying.toMs) : []),
    ...lostRows(ledger, dump, last.toMs),
    ...inventedRows(ledger, dump),
    ...unequal(ledger, dump),
    ...wrongColumns(ledger, dump),
  ];
}

function personalityOf({ kinds }: Schedule, name: string): Personality {
  return personality(kinds.find(({ kind }) => kind.name === name)?.personality ?? 'honest');
}
