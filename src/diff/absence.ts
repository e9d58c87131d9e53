/** A live row that a certified list does not have, or that two complete sweeps running did not show. */
export interface AbsentRow {
  readonly id: string;
  /** When the row was written last, by the service's doing or ours. */
  readonly changedAt: Date;
  /** The tick at which the last response that showed the record was sent; 0 where none is kept. */
  readonly lastShown: number;
  /** False where an answer named the record, and no list has shown it yet. */
  readonly isListed: boolean;
  /** An entry of ours may explain the absence: a create that is new, or a write with an unknown outcome. */
  readonly isProtected: boolean;
}

/** `unlisted`: the service has answered that the record exists. */
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
  /** Why no proof comes by itself: `older_than:FIELD`, the code of a doubt of the row, or the reason of an unclear answer. */
  readonly why?: string | undefined;
}

/** An absent row with what is noted of it. */
export interface Suspect extends AbsentRow {
  readonly absence: Absence;
}

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

/** What is known of the list that lacks the rows. */
export interface ListFacts {
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
}

/** What one sweep shows of the rows that its list lacks. */
export interface AbsenceFacts extends ListFacts {
  readonly absent: readonly AbsentRow[];
  readonly storedAbsences: ReadonlyMap<string, Absence>;
  /** The tick at which the sweep began. */
  readonly sweep: number;
  readonly now: Date;
}

export interface JudgedFacts extends AbsenceFacts {
  /** The list lacks a record that an answer has named: alone, it proves no deletion. */
  readonly hidesRecords: boolean;
}
