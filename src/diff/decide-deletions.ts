import { DAY_MS } from '../lib/time/zone-offset.ts';

/** A live row that a certified list does not have, or that two complete sweeps running did not show. */
export interface AbsentRow {
  readonly id: string;
  /** When the row was written last, by the service's doing or ours. */
  readonly changedAt: Date;
  /** The tick at which the last response that showed the record was sent; 0 where none is kept. */
  readonly lastShown: number;
  /** False where an answer named the record, and no list has shown it yet. */
  readonly isListed: boolean;
}

/** Sweeps with a control that could not be retrieved, after which retrieving proves nothing any more. */
export const MAX_CONTROL_FAILURES = 3;

export type AbsenceState = 'suspected' | 'held' | 'approved' | 'rejected' | 'unlisted';

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
  /** Why no proof comes by itself: `older_than:FIELD`, `never_listed`, `others_hidden`, `replaced`, `still_there`, or the reason of an unclear answer. */
  readonly why?: string | undefined;
}

/** An answer named the record, and no list has ever shown it. */
const NEVER_LISTED = 'never_listed';
/** The list that lacks the record lacks records that an answer has named, too. */
const OTHERS_HIDDEN = 'others_hidden';

/** Another row has taken its place at one end of the list, which may be cut: where only the list can prove it, a person decides. */
const REPLACED = 'replaced';

/** The missing rows are exactly the oldest by this field: the list may show recent rows only. */
const olderThan = (field: string): string => `older_than:${field}`;

/** The date field whose oldest values are the missing rows; null for any other hold. */
export const olderThanField = (why: string | null | undefined): string | null =>
  why?.startsWith('older_than:') ? why.slice('older_than:'.length) : null;

/** The absent rows that are older than every row of the list. */
export interface OldestRows {
  /** The field that orders them: the id, or a date. */
  readonly by: string;
  readonly ids: ReadonlySet<string>;
  /** A person has decided that rows older than the list stay in the mirror. */
  readonly isOutOfScope: boolean;
  /** Consecutive deletions that were each exactly the oldest rows. */
  readonly waves: number;
}

export interface DeletionRules {
  readonly graceSeconds: number;
  /** More disappearances at once than the larger of both need a person. */
  readonly holdAbove: { readonly rows: number; readonly share: number };
}

export interface AbsenceFacts {
  readonly absent: readonly AbsentRow[];
  readonly storedAbsences: ReadonlyMap<string, Absence>;
  /** Ids of records that an unsettled create or an update may explain. */
  readonly isProtected: ReadonlySet<string>;
  /** Live rows of the mirror, the absent ones among them; 0 will do where fewer than three are absent. */
  readonly live: number;
  /** The list has no rows any more, may be cut off, or is another user's: a person must look, however few rows are gone. */
  readonly doubt: 'empty' | 'cut_off' | 'rights' | null;
  /** The rows that are absent for the first time left one end of a list that is as long as before. */
  readonly isReplaced?: boolean;
  /** Whether records of this kind can be retrieved one by one; if not, a later sweep is the proof. */
  readonly canRetrieve: boolean;
  /** The list is known exactly; if not, the rows are absent from complete sweeps, and only asking can prove more. */
  readonly isCertified: boolean;
  /** The pages of the list may be of different ages: a cache that hides itself. Its proof then takes one more point. */
  readonly canBeMixed?: boolean;
  /** Null if the absent rows are not the oldest, or can be retrieved. */
  readonly oldest?: OldestRows | null;
  /** The tick at which the sweep began. */
  readonly sweep: number;
  readonly now: Date;
}

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
    /** Why they are held together: `rows:5` or `share:0.02` (what `holdAbove` allows), `third`, `empty`, `cut_off`, `rights`, `replaced`; absent = as before. */
    readonly rule?: string | undefined;
  };
}

/** Unlisted records retrieved again in each sweep: a list that leaves out thousands must not cost thousands. */
const UNLISTED_ASKED = 20;

/**
 * Decides the consequences of absent rows; a single observation proves nothing. If the list is not known exactly, an absence is
 * only a reason to retrieve the record. If the kind has no single retrieval, nothing follows.
 */
export function decideDeletions(facts: AbsenceFacts, rules: DeletionRules): DeletionDecision {
  const { absent, storedAbsences, isProtected, canRetrieve, isCertified } = facts;
  const absentIds = new Set(absent.map((row) => row.id));
  const toForget = [...storedAbsences.keys()].filter((id) => !absentIds.has(id));
  const candidates = absent
    .filter((row) => !isProtected.has(row.id))
    .map((row): AbsenceCandidate => ({ ...row, absence: absenceOf(row, facts) }))
    .filter((row) => row.absence.state !== 'rejected');
  if (!isCertified && !canRetrieve) {
    const records = candidates.filter((candidate) => candidate.absence.state === 'held').length;
    return { toSave: [], toForget, toRetrieve: [], tombstones: [], held: { records } };
  }
  const open = candidates.filter(
    (row) => isUndecided(row) && !isKeptByDecision(row, facts) && !isStuck(row, facts),
  );
  const older = open.filter((row) => facts.oldest?.ids.has(row.id));
  // A row that is deleted at the same time does not hide that the list drops its oldest ones.
  const undecided = older.length >= HOLD_MIN_ROWS && facts.oldest?.isOutOfScope === false ? older : open;
  const hold = decideHoldState(undecided, facts, rules);
  const undecidedTogether = new Set(undecided);
  const nextCandidates = candidates.map((row): AbsenceCandidate => {
    const isUndecidedTogether = undecidedTogether.has(row);
    return {
      ...row,
      absence: isUndecidedTogether ? nextHeldState(row.absence, hold, facts) : nextState(row, facts),
    };
  });
  const unheld = nextCandidates.filter(({ absence: { state } }) => {
    if (state === 'approved') return true;
    return hold.is !== 'held' && state !== 'held' && state !== 'rejected';
  });
  const provenByList = unheld.filter(
    (row) => (!canRetrieve || isApprovedByPerson(row, facts)) && isMissedAgain(row, facts, rules),
  );
  const isEnough = (row: AbsenceCandidate): boolean => !facts.canBeMixed || row.absence.firstGoneAt !== null;
  const missedOnce = new Set(provenByList.filter((row) => !isEnough(row)));
  const after = nextCandidates.map((row): Absence => {
    if (!missedOnce.has(row)) return row.absence;
    return { ...row.absence, sweep: facts.sweep, firstGoneAt: facts.now };
  });
  // Until a person has approved, a record that no list has shown may wait for an approval in the service.
  const asked = unheld.filter((row) => !isApprovedByPerson(row, facts) && (row.isListed || isApproved(row)));
  return {
    toSave: after.filter((absence) => isChanged(absence, storedAbsences.get(absence.id))),
    toForget,
    toRetrieve: canRetrieve ? dueForRetrieval(asked, facts, rules) : [],
    tombstones: provenByList.filter(isEnough).map((row) => row.id),
    held: { records: after.filter((absence) => absence.state === 'held').length, rule: hold.rule },
  };
}

const isChanged = (absence: Absence, before: Absence | undefined): boolean =>
  before?.state !== absence.state ||
  before.sweep !== absence.sweep ||
  before.isCertified !== absence.isCertified ||
  before.why !== absence.why;

const isUndecided = ({ absence: { state } }: AbsenceCandidate): boolean =>
  state === 'suspected' || state === 'held';

/** Older than every row of a list whose older rows stay, by a person's decision. */
const isKeptByDecision = (row: AbsenceCandidate, facts: AbsenceFacts): boolean =>
  facts.oldest?.isOutOfScope === true && facts.oldest.ids.has(row.id) && row.absence.state !== 'approved';

const isApproved = (row: AbsenceCandidate): boolean => row.absence.state === 'approved';

/** Retrieving cannot prove the deletion; after approval, the list does. */
const isApprovedByPerson = (row: AbsenceCandidate, facts: AbsenceFacts): boolean =>
  isApproved(row) &&
  row.absence.why !== undefined &&
  !(facts.canRetrieve && row.absence.why === NEVER_LISTED);

/** A list that hides a record which an answer has named may hide others, too: alone, it proves no deletion. */
const mayHideRecords = (facts: AbsenceFacts): boolean =>
  !facts.canRetrieve && facts.absent.some((row) => !row.isListed);

const STUCK_MS = 7 * DAY_MS;

/** Whether the proof of an absence cannot come by itself: such a record needs a person after a week, a cached one after a day. */
function isStuck(row: AbsenceCandidate, facts: AbsenceFacts): boolean {
  const { state, absentSince } = row.absence;
  const why = waitReason(row.absence, facts);
  if (why === undefined || olderThanField(why) !== null) return false;
  if (state === 'held' || why === NEVER_LISTED) return isUndecided(row);
  const after = why === 'cached' ? DAY_MS : STUCK_MS;
  const isOpen = state === 'suspected' || state === 'unlisted';
  return isOpen && facts.now.getTime() - absentSince.getTime() >= after;
}

const waitReason = (absence: Absence, facts: AbsenceFacts): string | undefined =>
  (absence.why === REPLACED ? undefined : absence.why) ??
  (absence.state === 'suspected' && mayHideRecords(facts) ? OTHERS_HIDDEN : undefined);

/** The state of an absence after this sweep. */
function nextState(row: AbsenceCandidate, facts: AbsenceFacts): Absence {
  const { absence } = row;
  if (isKeptByDecision(row, facts))
    return { ...absence, state: 'rejected', why: olderThan(facts.oldest?.by ?? 'id') };
  const isYoung = facts.now.getTime() - absence.absentSince.getTime() < STUCK_MS;
  const isWaiting = absence.why === NEVER_LISTED && isYoung;
  return isStuck(row, facts) && !isWaiting
    ? { ...absence, state: 'held', why: waitReason(absence, facts) }
    : absence;
}

/** The state after this sweep of an absence that is undecided together with others. */
function nextHeldState(absence: Absence, hold: Hold, facts: AbsenceFacts): Absence {
  const older = olderThanField(absence.why) === null ? undefined : absence.why;
  if (hold.is === 'held') return { ...absence, state: 'held', why: hold.why ?? older };
  if (hold.is === 'open' || absence.state !== 'held') return absence;
  return {
    ...absence,
    state: 'suspected',
    sweep: facts.sweep,
    absentSince: facts.now,
    firstGoneAt: null,
    why: undefined,
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

interface AbsenceCandidate extends AbsentRow {
  readonly absence: Absence;
}

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

/** The decision about all undecided rows together; `freed`: most held records are back, so the rest are treated as never held. */
interface Hold {
  readonly is: 'held' | 'freed' | 'open';
  readonly why?: string;
  readonly rule?: string;
}

function decideHoldState(
  undecided: readonly AbsenceCandidate[],
  facts: AbsenceFacts,
  rules: DeletionRules,
): Hold {
  const { live, oldest, storedAbsences, absent } = facts;
  const count = undecided.length;
  if (count === 0) return { is: 'open' };
  const areReplaced = !facts.canRetrieve && undecided.some((row) => row.absence.why === REPLACED);
  const doubt = facts.doubt ?? (areReplaced ? REPLACED : null);
  if (oldest && isOldest(undecided, oldest, doubt !== null)) return { is: 'held', why: olderThan(oldest.by) };
  const rule = doubt === 'rights' ? doubt : (manyRule(count, live, rules) ?? doubt);
  if (rule !== null) return { is: 'held', rule };
  if (!undecided.some((row) => row.absence.state === 'held')) return { is: 'open' };
  const still = new Set(absent.map((row) => row.id));
  const returned = [...storedAbsences.values()].filter(
    (absence) => absence.state === 'held' && !still.has(absence.id),
  ).length;
  return { is: returned > 2 * count ? 'freed' : 'held' };
}

/** The rule by which so many are held for their number; null for none. */
function manyRule(count: number, live: number, { holdAbove: { rows, share } }: DeletionRules): string | null {
  if (count > Math.max(rows, share * live)) return rows > share * live ? `rows:${rows}` : `share:${share}`;
  return count >= HOLD_MIN_ROWS && 3 * count > live ? 'third' : null;
}

function isOldest(undecided: readonly AbsenceCandidate[], rows: OldestRows, isDoubtful: boolean): boolean {
  const isEnough = isDoubtful || undecided.length >= HOLD_MIN_ROWS || rows.waves >= HOLD_MIN_ROWS - 1;
  return !rows.isOutOfScope && isEnough && undecided.every((row) => rows.ids.has(row.id));
}

/** This many rows at once are held if they are exactly the oldest rows, or more than a third of all. The third such wave is held, too. */
export const HOLD_MIN_ROWS = 3;

function dueForRetrieval(
  unheld: readonly AbsenceCandidate[],
  facts: AbsenceFacts,
  rules: DeletionRules,
): string[] {
  const due = unheld.filter(
    ({ absence: { firstGoneAt } }) => firstGoneAt === null || isPast(firstGoneAt, facts.now, rules),
  );
  const isUnlisted = (row: AbsenceCandidate): boolean => row.absence.state === 'unlisted';
  const unlisted = due.filter(isUnlisted).sort((a, b) => lastRetrievedAt(a) - lastRetrievedAt(b));
  const asked = [...due.filter((row) => !isUnlisted(row)), ...unlisted.slice(0, UNLISTED_ASKED)];
  return asked.map((row) => row.id);
}

const lastRetrievedAt = ({ absence: { firstGoneAt } }: AbsenceCandidate): number =>
  firstGoneAt?.getTime() ?? 0;

/** Outside a certified list again, in a later sweep, and long enough after it was there, or was written. */
function isMissedAgain(row: AbsenceCandidate, facts: AbsenceFacts, rules: DeletionRules): boolean {
  const { absence, changedAt } = row;
  const { sweep, now, isCertified } = facts;
  if (!isCertified || !absence.isCertified) return false;
  if (absence.state === 'unlisted') return false; // The service has answered that the record exists.
  if (mayHideRecords(facts) && !isApproved(row)) return false;
  const { absentSince, firstGoneAt } = absence;
  const instants = [
    absentSince,
    changedAt,
    ...(facts.canBeMixed && firstGoneAt !== null ? [firstGoneAt] : []),
  ];
  return absence.sweep < sweep && instants.every((since) => isPast(since, now, rules));
}

const isPast = (since: Date, now: Date, rules: DeletionRules): boolean =>
  now.getTime() - since.getTime() >= rules.graceSeconds * 1000;
