import type { Absence, AbsenceFacts, AbsentRow, DeletionRules, JudgedFacts, Suspect } from './absence.ts';
import { HOLD_MIN_ROWS, NEVER_LISTED, REPLACED, doubtOfList, doubtOfRow, olderThanField } from './doubts.ts';

/** Sweeps with a control that could not be retrieved, after which retrieving proves nothing any more. */
export const MAX_CONTROL_FAILURES = 3;

export interface DeletionDecision {
  /** Absences to note for the first time, or again. */
  readonly toSave: readonly Absence[];
  /** Records that are back: their noted absence is over. */
  readonly toForget: readonly string[];
  /** Records to ask the service for. */
  readonly toRetrieve: readonly string[];
  /** Records that are proven to be gone. */
  readonly tombstones: readonly string[];
  readonly held: {
    readonly records: number;
    /** The doubt of the list that holds them together; absent = as before, or each for a reason of its own. */
    readonly rule?: string | undefined;
  };
}

/**
 * Decides the consequences of absent rows; a single observation proves nothing. A doubt of the list holds its suspects together, a
 * doubt of a row holds the row; the rest are to be proven. If the list is not known exactly, an absence is only a reason to retrieve
 * the record. If the kind has no single retrieval, nothing follows.
 */
export function decideDeletions(shown: AbsenceFacts, rules: DeletionRules): DeletionDecision {
  const { absent, storedAbsences, canRetrieve, isCertified } = shown;
  const facts = { ...shown, hidesRecords: !canRetrieve && absent.some((row) => !row.isListed) };
  const absentIds = new Set(absent.map((row) => row.id));
  const toForget = [...storedAbsences.keys()].filter((id) => !absentIds.has(id));
  const suspects = absent
    .filter((row) => !row.isProtected)
    .map((row): Suspect => ({ ...row, absence: absenceOf(row, facts) }))
    .filter((row) => row.absence.state !== 'rejected');
  if (!isCertified && !canRetrieve)
    return { toSave: [], toForget, toRetrieve: [], tombstones: [], held: { records: countHeld(suspects) } };
  const { decided, rule, isHeld } = decideStates(suspects, facts, rules);
  const free = decided.filter((row) => isApproved(row) || !(isHeld || isDecidedLater(row)));
  const missedAgain = free.filter(
    (row) => (!canRetrieve || isProvenByList(row, facts)) && isMissedAgain(row, facts, rules),
  );
  // Pages of different ages may all be old: one more point.
  const isOnce = (row: Suspect): boolean => facts.canBeMixed === true && row.absence.firstGoneAt === null;
  const once = new Set(missedAgain.filter(isOnce));
  const after = decided.map((row): Absence => {
    const { absence } = row;
    return once.has(row) ? { ...absence, sweep: facts.sweep, firstGoneAt: facts.now } : absence;
  });
  // Until a person has approved, a record that no list has shown may wait for an approval in the service.
  const asked = free.filter((row) => !isProvenByList(row, facts) && (row.isListed || isApproved(row)));
  return {
    toSave: after.filter((absence) => isChanged(absence, storedAbsences.get(absence.id))),
    toForget,
    toRetrieve: canRetrieve ? dueForRetrieval(asked, facts, rules) : [],
    tombstones: missedAgain.filter((row) => !once.has(row)).map((row) => row.id),
    held: { records: countHeld(decided), rule },
  };
}

const countHeld = (suspects: readonly Suspect[]): number =>
  suspects.filter((row) => row.absence.state === 'held').length;

const isApproved = (row: Suspect): boolean => row.absence.state === 'approved';

const isDecidedLater = ({ absence: { state } }: Suspect): boolean => state === 'held' || state === 'rejected';

const isChanged = (absence: Absence, before: Absence | undefined): boolean =>
  before?.state !== absence.state ||
  before.sweep !== absence.sweep ||
  before.isCertified !== absence.isCertified ||
  before.why !== absence.why;

/** A noted absence counts until any sweep shows the record again. */
function absenceOf(row: AbsentRow, facts: AbsenceFacts): Absence {
  const { sweep, now, isCertified } = facts;
  const stored = facts.storedAbsences.get(row.id);
  const begun = { sweep, absentSince: now, isCertified };
  if (stored === undefined || row.lastShown > stored.sweep) {
    const first = { id: row.id, state: 'suspected', firstGoneAt: null, ...begun } as const;
    if (!row.isListed) return { ...first, why: NEVER_LISTED };
    return facts.isReplaced === true ? { ...first, why: REPLACED } : first;
  }
  if (stored.isCertified || !isCertified) return stored;
  return { ...stored, ...begun }; // The first certified list without it: the list's proof begins here.
}

/** The states of the suspects after this sweep; `isHeld`: a doubt of the list, new or old, lets nothing but approved rows go on. */
function decideStates(suspects: readonly Suspect[], facts: JudgedFacts, rules: DeletionRules) {
  const doubts = new Map(suspects.map((row) => [row, doubtOfRow(row, facts)]));
  const open = suspects.filter(
    (row) => ['suspected', 'held'].includes(row.absence.state) && doubts.get(row) === null,
  );
  const older = open.filter((row) => facts.oldest?.ids.has(row.id));
  // A row that is deleted at the same time does not hide that the list drops its oldest ones.
  const some = older.length >= HOLD_MIN_ROWS && facts.oldest?.isOutOfScope === false ? older : open;
  const doubt = doubtOfList({ ...facts, suspects: some, holdAbove: rules.holdAbove });
  const wasHeld = some.some((row) => row.absence.state === 'held');
  const isHeld = doubt !== null || (wasHeld && !haveMostReturned(some.length, facts));
  const together = new Set(some);
  const decided = suspects.map((row): Suspect => {
    const { absence } = row;
    if (!together.has(row)) return { ...row, absence: { ...absence, ...doubts.get(row) } };
    const why = [doubt, absence.why].find((code) => olderThanField(code) !== null) ?? undefined;
    if (isHeld) return { ...row, absence: { ...absence, state: 'held', why } };
    return absence.state === 'held' ? { ...row, absence: beginAgain(absence, facts) } : row;
  });
  return { decided, isHeld, rule: olderThanField(doubt) === null ? (doubt ?? undefined) : undefined };
}

/** Whether most held records are back: the rest are treated as never held. */
function haveMostReturned(count: number, { storedAbsences, absent }: AbsenceFacts): boolean {
  const still = new Set(absent.map((row) => row.id));
  const returned = [...storedAbsences.values()].filter(({ id, state }) => state === 'held' && !still.has(id));
  return returned.length > 2 * count;
}

const beginAgain = (absence: Absence, { sweep, now }: AbsenceFacts): Absence => ({
  ...absence,
  ...{ state: 'suspected', sweep, absentSince: now, firstGoneAt: null, why: undefined },
});

/** Retrieving cannot prove the deletion; once a person has approved it, the list does. */
const isProvenByList = (row: Suspect, { canRetrieve }: AbsenceFacts): boolean =>
  isApproved(row) && row.absence.why !== undefined && !(canRetrieve && row.absence.why === NEVER_LISTED);

/** Outside a certified list again, in a later sweep, and long enough after it was there, or was written. */
function isMissedAgain(row: Suspect, facts: JudgedFacts, rules: DeletionRules): boolean {
  const { absence, changedAt } = row;
  const { sweep, now, isCertified } = facts;
  if (!isCertified || !absence.isCertified || absence.state === 'unlisted') return false;
  if (facts.hidesRecords && !isApproved(row)) return false;
  const mixedSince = facts.canBeMixed ? absence.firstGoneAt : null;
  const instants = [absence.absentSince, changedAt, mixedSince ?? changedAt];
  return absence.sweep < sweep && instants.every((since) => isPast(since, now, rules));
}

/** Unlisted records retrieved again in each sweep: a list that leaves out thousands must not cost thousands. */
const UNLISTED_ASKED = 20;

function dueForRetrieval(asked: readonly Suspect[], { now }: AbsenceFacts, rules: DeletionRules): string[] {
  const lastRetrievedMs = ({ absence }: Suspect): number => absence.firstGoneAt?.getTime() ?? 0;
  const due = asked.filter(({ absence: { firstGoneAt: at } }) => at === null || isPast(at, now, rules));
  const isUnlisted = (row: Suspect): boolean => row.absence.state === 'unlisted';
  const unlisted = due.filter(isUnlisted).sort((a, b) => lastRetrievedMs(a) - lastRetrievedMs(b));
  const wanted = [...due.filter((row) => !isUnlisted(row)), ...unlisted.slice(0, UNLISTED_ASKED)];
  return wanted.map((row) => row.id);
}

/**
 * Judges an answer to a request for an absent record: `there`, `gone`, or the reason why it is unclear.
 * @returns The absence afterwards; null if the record is proven gone.
 */
export function judgeAnswer(
  absence: Absence,
  answer: string,
  now: Date,
  rules: DeletionRules,
): Absence | null {
  const { state, why } = absence;
  if (answer === 'there') return { ...absence, state: 'unlisted', firstGoneAt: now, why: 'still_there' };
  if (answer !== 'gone')
    return state === 'suspected' && why !== answer ? { ...absence, why: answer } : absence;
  if (state !== 'unlisted' && state !== 'held' && isProvenGone(absence, now, rules)) return null;
  return { ...absence, state: state === 'unlisted' ? 'suspected' : state, firstGoneAt: now, why: undefined };
}

/** Whether a record is gone: after two such answers, a grace period apart. */
export const isProvenGone = (
  { firstGoneAt }: Pick<Absence, 'firstGoneAt'>,
  now: Date,
  rules: DeletionRules,
): boolean => firstGoneAt !== null && isPast(firstGoneAt, now, rules);

const isPast = (since: Date, now: Date, { graceSeconds }: DeletionRules): boolean =>
  now.getTime() - since.getTime() >= graceSeconds * 1000;
