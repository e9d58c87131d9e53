import { denied, doubled, lost, openForEver, overwritten } from './entry-truths.ts';
import {
  backwards,
  outOfOrder,
  phantomEvents,
  shared,
  unjournalled,
  wrongColumns,
  wrongOrigins,
} from './event-truths.ts';
import type { Finding } from './finding.ts';
import { misled } from './reader.ts';
import type { Recording } from './history.ts';
import { falseConflicts, falselyGone, misdirected, takenBack, unnoticed } from './lasting-truths.ts';
import {
  brokenChains,
  differing,
  falselyCertified,
  falselyDeleted,
  invented,
  leaked,
  unequal,
  unread,
  wrongUndo,
} from './mirror-truths.ts';

/** Everything in a recording that the truth contradicts; empty = all is well. */
export function check(recording: Recording): readonly Finding[] {
  return [
    ...doubled(recording),
    ...lost(recording),
    ...denied(recording),
    ...falselyCertified(recording),
    ...falselyDeleted(recording),
    ...overwritten(recording),
    ...openForEver(recording),
    ...brokenChains(recording),
    ...wrongUndo(recording),
    ...unequal(recording),
    ...unread(recording),
    ...invented(recording),
    ...differing(recording),
    ...leaked(recording),
    ...shared(recording),
    ...unjournalled(recording),
    ...phantomEvents(recording),
    ...backwards(recording),
    ...outOfOrder(recording),
    ...wrongOrigins(recording),
    ...wrongColumns(recording),
    ...misdirected(recording),
    ...falselyGone(recording),
    ...falseConflicts(recording),
    ...takenBack(recording),
    ...unnoticed(recording),
    ...misled(recording),
  ];
}
