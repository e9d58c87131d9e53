import { sql } from 'drizzle-orm';
import type { Absence, AbsenceState } from '../../diff/plan-deletions.ts';
import { instantOf, instantText } from '../../lib/clock.ts';
import type { Queryable, Row, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** Absences of a kind without a conclusion yet, by record id; those checked longest ago first. */
export async function readAbsences(db: Queryable, kind: string): Promise<Map<string, Absence>> {
  const rows = await db.query(sql`
    select record_id, state, sweep, absent_since, struck_at, certified from deletions
    where kind = ${kind} and concluded_at is null order by coalesce(struck_at, absent_since), record_id`);
  return new Map(rows.map((row) => [String(row['record_id']), absence(row)]));
}

/** An absence, with the instant at which a list last showed the record; null = unknown. */
interface NotedAbsence extends Absence {
  readonly lastSeenAt: string | null;
}

/** Notes absences. Earlier notes of the same records are replaced, except for the instant when they were last seen. */
export async function saveAbsences(
  tx: Transaction,
  kind: string,
  absences: readonly NotedAbsence[],
): Promise<void> {
  if (absences.length === 0) return;
  const rows = absences.map(
    ({ id, state, sweep, absentSince, lastSeenAt, struckAt, isCertified }) =>
      sql`(${kind}, ${id}, ${state}, ${sweep}, ${instantText(absentSince)}, ${lastSeenAt}, ${textOf(struckAt)},
        cast(${isCertified ? 1 : 0} as bigint))`,
  );
  await tx.query(sql`
    insert into deletions (kind, record_id, state, sweep, absent_since, last_seen_at, struck_at, certified)
    values ${sql.join(rows, sql`, `)}
    on conflict (kind, record_id) do update set
      state = excluded.state, sweep = excluded.sweep, absent_since = excluded.absent_since,
      struck_at = excluded.struck_at, certified = excluded.certified, proof = null, concluded_at = null,
      last_seen_at = case when deletions.concluded_at is null then deletions.last_seen_at else excluded.last_seen_at end`);
}

/** Removes the absence of records that have reappeared. */
export async function forgetAbsences(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`delete from deletions where kind = ${kind} and record_id in (${sqlList(ids)})`);
}

/** Stores the proof by which records were found to be gone; returns when each was last seen, if that is known. */
export async function saveProofs(
  tx: Transaction,
  kind: string,
  { ids, proof, now }: { readonly ids: readonly string[]; readonly proof: Proof; readonly now: Date },
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query(sql`
    update deletions set state = 'deleted', proof = ${proof}, concluded_at = ${instantText(now)}
    where kind = ${kind} and record_id in (${sqlList(ids)}) returning record_id, last_seen_at`);
  return new Map(
    rows.map((row) => [
      String(row['record_id']),
      row['last_seen_at'] === null ? null : String(row['last_seen_at']),
    ]),
  );
}

/** The service said twice that the record is gone, or a later certified list lacks it too. */
export type Proof = 'retrieve' | 'list';

/** A mass disappearance that waits for a person's decision. */
export interface Hold {
  readonly kind: string;
  readonly state: AbsenceState;
  readonly records: number;
  readonly since: string;
}

/** Disappearances that a person has decided or must decide: held, approved, released and rejected. */
export async function readHolds(db: Queryable): Promise<Hold[]> {
  const rows = await db.query(sql`
    select kind, state, count(*) as records, min(absent_since) as since from deletions
    where state in ('held', 'approved', 'released', 'rejected') group by kind, state order by kind, state`);
  return rows.map((row) => ({
    kind: String(row['kind']),
    state: String(row['state']) as AbsenceState,
    records: Number(row['records']),
    since: String(row['since']),
  }));
}

/** Some of the records of a hold. */
export async function readHeldIds(
  db: Queryable,
  { kind, state }: Pick<Hold, 'kind' | 'state'>,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(sql`
    select record_id from deletions where kind = ${kind} and state = ${state}
    order by length(record_id), record_id limit ${limit}`);
  return rows.map((row) => String(row['record_id']));
}

/**
 * Records a person's decision on a kind's hold; if nothing is held, it revises the last decision. Returns the number of
 * records concerned.
 */
export async function decideHold(
  tx: Transaction,
  kind: string,
  decision: 'approved' | 'rejected',
): Promise<number> {
  for (const states of [sql`('held')`, sql`('approved', 'released', 'rejected')`]) {
    const rows = await tx.query(sql`
      update deletions set state = ${decision} where kind = ${kind} and state in ${states} returning record_id`);
    if (rows.length > 0) return rows.length;
  }
  return 0;
}

/** Releases a kind's hold, as if a person had approved it; returns the number of records. */
export async function releaseHeld(tx: Transaction, kind: string): Promise<number> {
  const rows = await tx.query(sql`
    update deletions set state = 'released' where kind = ${kind} and state = 'held' returning record_id`);
  return rows.length;
}

/** Ids of records with an unsettled write of ours: their absence proves nothing yet. */
export async function readProtected(db: Queryable, kind: string): Promise<Set<string>> {
  const rows = await db.query(sql`
    select record_id from outbox where kind = ${kind} and state in ('sending', 'unsettled') and record_id is not null`);
  return new Set(rows.map((row) => String(row['record_id'])));
}

/** Whether a write of ours waits to be found in the kind's list. */
export async function awaitsSweep(db: Queryable, kind: string): Promise<boolean> {
  return (
    (await db.query(sql`select 1 from outbox where kind = ${kind} and state = 'unsettled' limit 1`)).length >
    0
  );
}

function absence(row: Row): Absence {
  return {
    id: String(row['record_id']),
    state: String(row['state']) as AbsenceState,
    sweep: Number(row['sweep']),
    absentSince: instantOf(String(row['absent_since'])),
    struckAt: row['struck_at'] === null ? null : instantOf(String(row['struck_at'])),
    isCertified: Number(row['certified'] ?? 1) === 1, // Earlier releases, which have no such value, noted certified absences only.
  };
}

const textOf = (instant: Date | null): string | null => (instant === null ? null : instantText(instant));
