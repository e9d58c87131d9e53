/** A live row that a certified list does not have, or that two complete sweeps running did not show. */
export interface AbsentRow {
  readonly id: string;
  /** When the row was written last, by the service's doing or ours. */
  readonly changedAt: Date;
  /** The tick at which the last response that showed the record was sent; 0 where none is kept. */
  readonly lastShown: number;
}

/** Sweeps with a control that could not be retrieved, after which retrieving proves nothing any more. */
export const MOST_CONTROL_FAILURES = 3;

/** `released`: held long enough without contrary evidence, so that it goes on as if a person had approved it. */
export type AbsenceState = 'suspected' | 'held' | 'approved' | 'released' | 'rejected' | 'unlisted';

/** The stored evidence of a record's absence. */
export interface Absence {
  readonly id: string;
  readonly state: AbsenceState;
  /** The sweep (by the tick of its beginning) that missed the record first. */
  readonly sweep: number;
  readonly absentSince: Date;
  /** When the service first answered that the record is gone; null = it has not. */
  readonly firstGoneAt: Date | null;
  /** A certified list has missed it: false where only complete sweeps did, which prove nothing by themselves. */
  readonly isCertified: boolean;
}

export interface DeletionRules {
  readonly graceSeconds: number;
  /** More disappearances at once than the larger of both need a person. */
  readonly holdAbove: { readonly rows: number; readonly share: number };
  /** After this time without contrary evidence a hold goes on by itself; null or absent = a person decides. */
  readonly releaseHeldAfterHours?: number | null;
}

export interface AbsenceFacts {
  readonly absent: readonly AbsentRow[];
  readonly noted: ReadonlyMap<string, Absence>;
  /** Ids of records that an unsettled create or an update may explain. */
  readonly isProtected: ReadonlySet<string>;
  /** Live rows of the mirror, the absent ones among them; 0 will do where at most `holdAbove.rows` are absent. */
  readonly live: number;
  /** The list has no rows any more, or may be cut off: a person must look, however few rows are gone. */
  readonly isDoubtful: boolean;
  /** Whether records of this kind can be retrieved one by one; if not, a later sweep is the proof. */
  readonly canAsk: boolean;
  /** The list is known exactly; if not, the rows are absent from complete sweeps, and only asking can prove more. */
  readonly isCertified: boolean;
  /** The tick at which the sweep began. */
  readonly sweep: number;
  readonly now: Date;
}

export interface DeletionPlan {
  /** Absences to note for the first time, or again. */
  readonly note: readonly Absence[];
  /** Records that are back: their noted absence is over. */
  readonly forget: readonly string[];
  /** Records to ask the service for. */
  readonly ask: readonly string[];
  /** Records that are proven to be gone. */
  readonly tombstones: readonly string[];
  /** Those retrieved longest ago first; `isSame`: they are those of before, and none of them has been shown since. */
  readonly held: { readonly ids: readonly string[]; readonly isSame: boolean };
}

/** Unlisted records retrieved again in each sweep: a list that leaves out thousands must not cost thousands. */
const UNLISTED_ASKED = 20;

/**
 * Decides the consequences of absent rows; a single observation proves nothing. If the list is not known exactly, an absence is
 * only a reason to retrieve the record. If the kind has no single retrieval, nothing follows.
 */
export function planDeletions(facts: AbsenceFacts, rules: DeletionRules): DeletionPlan {
  const { absent, noted, isProtected, canAsk, isCertified } = facts;
  const absentIds = new Set(absent.map(({ id }) => id));
  const forget = [...noted.keys()].filter((id) => !absentIds.has(id));
  const candidates = absent
    .filter(({ id }) => !isProtected.has(id))
    .map((row): Absentee => ({ ...row, absence: absenceOf(row, facts) }))
    .filter(({ absence }) => absence.state !== 'rejected');
  if (!isCertified && !canAsk) {
    const held = candidates.filter(({ absence }) => absence.state === 'held');
    return { note: [], forget, ask: [], tombstones: [], held: heldAfter(held, noted) };
  }
  const undecided = candidates.filter(isUndecided);
  const isHeld = mustBeHeld(undecided, facts, rules);
  const state: AbsenceState = isHeld ? 'held' : 'suspected';
  const planned = candidates.map((row) => (isUndecided(row) ? { ...row.absence, state } : row.absence));
  const free = candidates.filter(
    ({ absence }) => !isHeld || absence.state === 'approved' || absence.state === 'released',
  );
  return {
    note: planned.filter(({ id, state, sweep, isCertified }) => {
      const before = noted.get(id);
      return before?.state !== state || before.sweep !== sweep || before.isCertified !== isCertified;
    }),
    forget,
    ask: canAsk ? dueForAsking(free, facts, rules) : [],
    tombstones: canAsk ? [] : free.filter((row) => isMissedAgain(row, facts, rules)).map(({ id }) => id),
    held: heldAfter(isHeld ? undecided : [], noted),
  };
}

const isUndecided = ({ absence: { state } }: Absentee): boolean => state === 'suspected' || state === 'held';

function heldAfter(held: readonly Absentee[], noted: ReadonlyMap<string, Absence>): DeletionPlan['held'] {
  const heldBefore = [...noted.values()].filter(({ state }) => state === 'held').length;
  return {
    ids: [...held].sort((a, b) => lastLook(a) - lastLook(b)).map(({ id }) => id),
    isSame: held.length === heldBefore && held.every(({ absence }) => absence.state === 'held'),
  };
}

/** Judges a retrieved record: it is gone after two such answers, a grace period apart. */
export function isProvenGone(
  { firstGoneAt }: { readonly firstGoneAt: Date | null },
  now: Date,
  rules: DeletionRules,
): boolean {
  return firstGoneAt !== null && isPast(firstGoneAt, now, rules);
}

interface Absentee extends AbsentRow {
  readonly absence: Absence;
}

/** A noted absence counts until any sweep shows the record again. */
function absenceOf({ id, lastShown }: AbsentRow, facts: AbsenceFacts): Absence {
  const { sweep, now, isCertified } = facts;
  const noted = facts.noted.get(id);
  if (noted === undefined || lastShown > noted.sweep)
    return { id, state: 'suspected', sweep, absentSince: now, firstGoneAt: null, isCertified };
  if (noted.isCertified || !isCertified) return noted;
  return { ...noted, sweep, absentSince: now, isCertified }; // The first certified look: the list's proof begins here.
}

function mustBeHeld(
  undecided: readonly Absentee[],
  { live, isDoubtful }: AbsenceFacts,
  { holdAbove }: DeletionRules,
): boolean {
  if (undecided.length === 0) return false;
  const isMany = undecided.length > Math.max(holdAbove.rows, holdAbove.share * live);
  return isMany || isDoubtful || undecided.some(({ absence }) => absence.state === 'held');
}

function dueForAsking(free: readonly Absentee[], { now }: AbsenceFacts, rules: DeletionRules): string[] {
  const due = free.filter(
    ({ absence: { firstGoneAt } }) => firstGoneAt === null || isPast(firstGoneAt, now, rules),
  );
  const isUnlisted = ({ absence }: Absentee): boolean => absence.state === 'unlisted';
  const unlisted = due.filter(isUnlisted).sort((a, b) => lastLook(a) - lastLook(b));
  const asked = [...due.filter((row) => !isUnlisted(row)), ...unlisted.slice(0, UNLISTED_ASKED)];
  return asked.map(({ id }) => id);
}

const lastLook = ({ absence: { firstGoneAt } }: Absentee): number => firstGoneAt?.getTime() ?? 0;

/** Outside a certified list again, in a later sweep, and long enough after it was there, or was written. */
function isMissedAgain(row: Absentee, facts: AbsenceFacts, rules: DeletionRules): boolean {
  const { absence, changedAt } = row;
  const { sweep, now, isCertified } = facts;
  if (!isCertified || !absence.isCertified) return false;
  if (absence.state === 'unlisted') return false; // The service has answered that the record exists.
  return absence.sweep < sweep && isPast(absence.absentSince, now, rules) && isPast(changedAt, now, rules);
}

const isPast = (since: Date, now: Date, { graceSeconds }: DeletionRules): boolean =>
  now.getTime() - since.getTime() >= graceSeconds * 1000;

/** Since when the same records of a kind are held without any contrary evidence. */
export interface HoldClock {
  readonly since: Date;
  readonly records: number;
}

/**
 * The clock of a hold after a sweep: it restarts if the set of held records has changed, or if the list may have been cut off:
 * then it misses the same records for ever, and time proves nothing.
 */
export function holdAfter(
  before: HoldClock | null,
  held: DeletionPlan['held'],
  mayBeCutOff: boolean,
  now: Date,
): HoldClock | null {
  const records = held.ids.length;
  if (records === 0) return null;
  const goesOn = before !== null && held.isSame && before.records === records && !mayBeCutOff;
  return goesOn ? before : { since: now, records };
}

/** Whether a hold has lasted long enough to end by itself; never if a person must decide. */
export function isOverdue({ since }: HoldClock, now: Date, rules: DeletionRules): boolean {
  const hours = rules.releaseHeldAfterHours;
  return typeof hours === 'number' && now.getTime() - since.getTime() >= hours * 3_600_000;
}
