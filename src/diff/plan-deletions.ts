/** A live row that a certified list does not have. */
export interface AbsentRow {
  readonly id: string;
  /** When the row was written last, by the service's doing or ours. */
  readonly changedAt: Date;
  /** The tick at which the last response that showed the record was sent; 0 where none is kept. */
  readonly lastShown: number;
}

export type AbsenceState = 'suspected' | 'held' | 'approved' | 'rejected' | 'unlisted';

/** What is known of a record's absence so far. */
export interface Absence {
  readonly id: string;
  readonly state: AbsenceState;
  /** The sweep (by the tick of its beginning) that missed the record first. */
  readonly sweep: number;
  readonly absentSince: Date;
  /** When the service first said that the record is gone; null = it has not. */
  readonly struckAt: Date | null;
}

export interface DeletionRules {
  readonly graceSeconds: number;
  /** More disappearances at once than the larger of both need a person. */
  readonly holdAbove: { readonly rows: number; readonly share: number };
}

export interface AbsenceFacts {
  readonly absent: readonly AbsentRow[];
  readonly noted: ReadonlyMap<string, Absence>;
  /** Ids that a create or an update of ours may be about to settle. */
  readonly isProtected: ReadonlySet<string>;
  /** Live rows of the mirror, the absent ones among them. */
  readonly live: number;
  /** The list has no rows any more, or may be cut off: a person must look, however few rows are gone. */
  readonly isDoubtful: boolean;
  /** Whether records of this kind can be asked for one by one; if not, a later sweep is the proof. */
  readonly canAsk: boolean;
  /** The tick at which the sweep began. */
  readonly sweep: number;
  readonly now: Date;
}

export interface DeletionPlan {
  /** Absences to note, or to note anew. */
  readonly note: readonly Absence[];
  /** Records that are back: what was noted of them is over. */
  readonly forget: readonly string[];
  /** Records to ask the service for. */
  readonly ask: readonly string[];
  /** Records that are proven to be gone. */
  readonly bury: readonly string[];
}

/** Unlisted records are asked for again, so many a sweep: a list that leaves out thousands must not cost thousands. */
const UNLISTED_ASKED = 20;

/** Decides what follows from the absence of rows at a certified point; nothing is concluded from one look alone. */
export function planDeletions(facts: AbsenceFacts, rules: DeletionRules): DeletionPlan {
  const { absent, noted, isProtected } = facts;
  const absentIds = new Set(absent.map(({ id }) => id));
  const candidates = absent
    .filter(({ id }) => !isProtected.has(id))
    .map((row): Candidate => ({ ...row, absence: absenceOf(row, facts) }))
    .filter(({ absence }) => absence.state !== 'rejected');
  const undecided = candidates.filter(({ absence: { state } }) => state === 'suspected' || state === 'held');
  const isHeld = mustBeHeld(undecided, facts, rules);
  const free = candidates.filter(({ absence: { state } }) => !isHeld || state === 'approved');
  return {
    note: undecided
      .map(({ absence }): Absence => ({ ...absence, state: isHeld ? 'held' : 'suspected' }))
      .filter(({ id, state, sweep }) => noted.get(id)?.state !== state || noted.get(id)?.sweep !== sweep),
    forget: [...noted.keys()].filter((id) => !absentIds.has(id)),
    ask: facts.canAsk ? dueForAsking(free, facts, rules) : [],
    bury: facts.canAsk ? [] : free.filter((row) => isMissedAgain(row, facts, rules)).map(({ id }) => id),
  };
}

/** A record that was asked for: gone for the second time, a grace apart, is gone. */
export function isProvenGone(
  { struckAt }: Pick<Absence, 'struckAt'>,
  now: Date,
  rules: DeletionRules,
): boolean {
  return struckAt !== null && isPast(struckAt, now, rules);
}

interface Candidate extends AbsentRow {
  readonly absence: Absence;
}

/** What was noted of a record counts as long as it has not been seen since, by whatever sweep. */
function absenceOf({ id, lastShown }: AbsentRow, facts: AbsenceFacts): Absence {
  const noted = facts.noted.get(id);
  return noted === undefined || lastShown > noted.sweep ? firstMissed(id, facts) : noted;
}

function firstMissed(id: string, { sweep, now }: AbsenceFacts): Absence {
  return { id, state: 'suspected', sweep, absentSince: now, struckAt: null };
}

function mustBeHeld(
  undecided: readonly Candidate[],
  { live, isDoubtful }: AbsenceFacts,
  { holdAbove }: DeletionRules,
): boolean {
  if (undecided.length === 0) return false;
  const isMany = undecided.length > Math.max(holdAbove.rows, holdAbove.share * live);
  return isMany || isDoubtful || undecided.some(({ absence }) => absence.state === 'held');
}

function dueForAsking(free: readonly Candidate[], { now }: AbsenceFacts, rules: DeletionRules): string[] {
  const due = free.filter(({ absence: { struckAt } }) => struckAt === null || isPast(struckAt, now, rules));
  const isUnlisted = ({ absence }: Candidate): boolean => absence.state === 'unlisted';
  const unlisted = due.filter(isUnlisted).sort((a, b) => lastLook(a) - lastLook(b));
  const asked = [...due.filter((row) => !isUnlisted(row)), ...unlisted.slice(0, UNLISTED_ASKED)];
  return asked.map(({ id }) => id);
}

const lastLook = ({ absence: { struckAt } }: Candidate): number => struckAt?.getTime() ?? 0;

/** Outside a certified list again, in a later sweep, and long enough after it was there, or was written. */
function isMissedAgain(row: Candidate, { sweep, now }: AbsenceFacts, rules: DeletionRules): boolean {
  const { absence, changedAt } = row;
  if (absence.state === 'unlisted') return false; // The service has said that it is there.
  return absence.sweep < sweep && isPast(absence.absentSince, now, rules) && isPast(changedAt, now, rules);
}

const isPast = (since: Date, now: Date, { graceSeconds }: DeletionRules): boolean =>
  now.getTime() - since.getTime() >= graceSeconds * 1000;
