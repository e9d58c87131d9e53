import { DAY_MS } from '../lib/time/zone-offset.ts';
import type { AbsenceState, DeletionRules, JudgedFacts, ListFacts, OldestRows, Suspect } from './absence.ts';

/** An answer named the record, and no list has ever shown it. */
export const NEVER_LISTED = 'never_listed';
/** Another row has taken its place at one end of the list. Noted in any kind: that its records can be retrieved may end. */
export const REPLACED = 'replaced';

const OLDER_THAN = 'older_than:';

/** The date field whose oldest values are the missing rows; null for any other hold. */
export const olderThanField = (why: string | null | undefined): string | null =>
  why?.startsWith(OLDER_THAN) ? why.slice(OLDER_THAN.length) : null;

/** This many rows at once are held if they are exactly the oldest rows, or more than a third of all. The third such wave is held, too. */
export const HOLD_MIN_ROWS = 3;

/** The undecided suspects of one list. */
interface SuspectList extends ListFacts {
  readonly suspects: readonly Suspect[];
  readonly holdAbove: DeletionRules['holdAbove'];
}

/** The doubts of a list, each as the code by which it holds all suspects together. The first that applies counts. */
const LIST_DOUBTS: readonly ((list: SuspectList) => string | false | null | undefined)[] = [
  // A list without rows says so itself, whatever else it looks like: it may be an error.
  ({ doubt }) => doubt === 'empty' && doubt,
  // Services list the rows of the last months only: the oldest leave, few at a time.
  (list) => list.oldest && areOldest(list, list.oldest) && `${OLDER_THAN}${list.oldest.by}`,
  // The token of another user shows only what that user may see.
  ({ doubt }) => doubt === 'rights' && doubt,
  // A filter, a broken import or a wrong company takes many rows away at once.
  ({ suspects: { length }, live, holdAbove: { rows, share } }) =>
    length > Math.max(rows, share * live) && (rows > share * live ? `rows:${rows}` : `share:${share}`),
  ({ suspects: { length }, live }) => length >= HOLD_MIN_ROWS && 3 * length > live && 'third',
  // A list of a round number of rows as before may have a silent limit; a 404 may be that of a broken page.
  ({ doubt }) => doubt,
  // A list that is cut at one end drops a row for each one that comes. Where it alone can prove anything, it is not believed.
  ({ suspects, canRetrieve }) => !canRetrieve && isAnyReplaced(suspects) && REPLACED,
];

/** The code of the first doubt of a list that applies; null if it may be believed. */
export const doubtOfList = (list: SuspectList): string | null =>
  (list.suspects.length > 0 && LIST_DOUBTS.map((codeOf) => codeOf(list)).find(Boolean)) || null;

const isAnyReplaced = (suspects: readonly Suspect[]): boolean =>
  suspects.some((row) => row.absence.why === REPLACED);

function areOldest({ suspects, doubt, canRetrieve }: SuspectList, rows: OldestRows): boolean {
  const isDoubtful = doubt !== null || (!canRetrieve && isAnyReplaced(suspects));
  const isEnough = isDoubtful || suspects.length >= HOLD_MIN_ROWS || rows.waves >= HOLD_MIN_ROWS - 1;
  return !rows.isOutOfScope && isEnough && suspects.every((row) => rows.ids.has(row.id));
}

/** A doubt of a row: why no proof of its absence comes by itself. */
interface RowDoubt {
  /** The code of the reason, where the doubt applies. */
  readonly why: (row: Suspect, facts: JudgedFacts) => string | false | null | undefined;
  /** How long the row may be absent before its state changes. */
  readonly patienceMs: number;
  readonly state: AbsenceState;
  /** From the beginning it counts for no other row. */
  readonly isApart?: true;
}

/** What an answer has shown of the row; the rest of the codes are of its list. */
const ownWhy = ({ absence: { why } }: Suspect): string | undefined =>
  why === REPLACED || olderThanField(why) !== null ? undefined : why;

const noted = (code: string) => (row: Suspect) => (ownWhy(row) === code ? code : null);

const WEEK_MS = 7 * DAY_MS;

/** The doubts of a row; the first that applies counts. A person decides about such a row alone, and it keeps no other from its proof. */
const ROW_DOUBTS: readonly RowDoubt[] = [
  // A person has rejected the oldest rows: the list is believed, and what is older than it stays.
  {
    why: ({ id }, { oldest }) => oldest?.isOutOfScope && oldest.ids.has(id) && `${OLDER_THAN}${oldest.by}`,
    patienceMs: 0,
    state: 'rejected',
  },
  // A create that waits for an approval in the service is in no list for days, and its path answers 404.
  { why: noted(NEVER_LISTED), patienceMs: WEEK_MS, state: 'held', isApart: true },
  // A hidden cache keeps its answers for hours, not for days.
  { why: noted('cached'), patienceMs: DAY_MS, state: 'held' },
  // The service still returns the record, refuses to, or gives no clear answer.
  { why: ownWhy, patienceMs: WEEK_MS, state: 'held' },
  // A list that hides a record that an answer has named may hide others.
  {
    why: (row, { hidesRecords }) => row.absence.state === 'suspected' && hidesRecords && 'others_hidden',
    patienceMs: WEEK_MS,
    state: 'held',
  },
];

/** The first doubt of a row that applies, with the state that it leads to; null if the row is judged with the others. */
export function doubtOfRow(row: Suspect, facts: JudgedFacts) {
  const { state, absentSince } = row.absence;
  if (state === 'approved') return null;
  for (const { why: whyOf, patienceMs, state: next, isApart } of ROW_DOUBTS) {
    const why = whyOf(row, facts);
    if (!why) continue;
    const isDue = state === 'held' || facts.now.getTime() - absentSince.getTime() >= patienceMs;
    return isDue ? { why, state: next } : isApart ? { why, state } : null;
  }
  return null;
}
