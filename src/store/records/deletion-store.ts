import { sql } from 'drizzle-orm';
import type { Absence, AbsenceState } from '../../diff/absence.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { DELETIONS } from '../tables/change-tables.ts';
import {
  hasRow,
  orNull,
  pickColumns,
  readRows,
  readTexts,
  select,
  wordOf,
  type RowOf,
} from '../../db/rows/rows.ts';
import { readCheck } from './hold-store.ts';

/** Absences of a kind without a conclusion yet, by record id; those checked longest ago first. */
export async function readAbsences(db: Queryable, kind: string): Promise<Map<string, Absence>> {
  const open = sql`
    where kind = ${kind} and concluded_at is null order by coalesce(struck_at, absent_since), record_id`;
  const rows = await select(db, DELETIONS, open);
  return new Map(
    rows.map(({ recordId: id, state, sweep, absentSince, struckAt, certified, proof }) => [
      id,
      {
        id,
        state,
        sweep,
        absentSince: parseInstant(absentSince),
        firstGoneAt: struckAt === null ? null : parseInstant(struckAt),
        isCertified: certified !== 0,
        ...(proof !== null && { why: proof }),
      },
    ]),
  );
}

/**
 * Notes absences. Earlier notes of the same records are replaced, except for the instant at which a list last showed them
 * (null = unknown).
 */
export async function saveAbsences(
  tx: Transaction,
  kind: string,
  absences: readonly (Absence & { readonly lastSeenAt: string | null })[],
): Promise<void> {
  if (absences.length === 0) return;
  const rows = absences.map(({ id, state, sweep, lastSeenAt, isCertified, why = null, ...at }) => {
    const goneAt = at.firstGoneAt === null ? null : formatInstant(at.firstGoneAt);
    return sql`(${kind}, ${id}, ${state}, ${sweep}, ${formatInstant(at.absentSince)}, ${lastSeenAt}, ${goneAt},
      cast(${isCertified ? 1 : 0} as bigint), ${why})`;
  });
  await tx.query(sql`
    insert into deletions (kind, record_id, state, sweep, absent_since, last_seen_at, struck_at, certified, proof)
    values ${sql.join(rows, sql`, `)}
    on conflict (kind, record_id) do update set
      state = excluded.state, sweep = excluded.sweep, absent_since = excluded.absent_since,
      struck_at = excluded.struck_at, certified = excluded.certified, proof = excluded.proof, concluded_at = null,
      last_seen_at = case when deletions.concluded_at is null then deletions.last_seen_at else excluded.last_seen_at end`);
}

/** Removes the absence of records that have reappeared. */
export async function forgetAbsences(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`delete from deletions where kind = ${kind} and record_id in (${sqlList(ids)})`);
}

/** Stores the proof that records are gone; returns when each was last seen, if that is known. */
export async function saveProofs(
  tx: Transaction,
  kind: string,
  { ids, proof, now }: { ids: readonly string[]; proof: Proof; now: Date },
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const concluded = sql`
    update deletions set state = 'deleted', proof = ${proof}, concluded_at = ${formatInstant(now)}
    where kind = ${kind} and record_id in (${sqlList(ids)}) returning record_id, last_seen_at`;
  const rows = await readRows(tx, pickColumns(DELETIONS, 'recordId', 'lastSeenAt'), concluded);
  return new Map(rows.map((row) => [row.recordId, row.lastSeenAt]));
}

/** The service reported twice that the record is gone, or a later certified list lacks it too. */
export type Proof = 'retrieve' | 'list';

/** A mass disappearance that waits for a person's decision. */
type Hold = RowOf<typeof HOLD>;

/** States of absences without a conclusion that people are shown. */
type ShownState = Exclude<AbsenceState, 'unlisted'>;

const HOLD = { kind: String, state: wordOf<ShownState>(), records: Number, since: String };
const GROUP = { ...HOLD, why: orNull(String) };

/** Disappearances that a person has decided or must decide: held, approved and rejected. */
export const readHolds = async (db: Queryable): Promise<Hold[]> =>
  (await readMissing(db)).flatMap(({ kind, state, records, since }) =>
    state === 'suspected' ? [] : [{ kind, state, records, since }],
  );

/** Counts the rows that have left their lists and are still in the mirror, by the state of their deletion. */
export async function readMissing(db: Queryable): Promise<RowOf<typeof GROUP>[]> {
  const groups = sql`
    select kind, state, count(*) as records, min(absent_since) as since,
      coalesce(max(proof), (select value from mirror_meta where key = 'held.' || kind)) as why
    from deletions
    where state in ('suspected', 'held', 'approved', 'rejected')
    group by kind, state order by kind, state`;
  return readRows(db, GROUP, groups);
}

const DISAPPEARED = { id: String, raw: orNull(String) };

/** The records of a hold after an id, in the order of their ids; the JSON text is null where the mirror has no row. */
export async function readHeldRecords(
  db: Queryable,
  hold: Pick<Hold, 'kind' | 'state'>,
  { after = '0', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly RowOf<typeof DISAPPEARED>[]> {
  const next = sql`
    select d.record_id as id, k._raw as raw from deletions as d
    left join ${sql.identifier(hold.kind)} as k on k.id = cast(d.record_id as bigint)
    where d.kind = ${hold.kind} and d.state = ${hold.state} and cast(d.record_id as bigint) > cast(${after} as bigint)
    order by cast(d.record_id as bigint) limit ${limit}`;
  return readRows(db, DISAPPEARED, next);
}

/** Disappearances of one kind in one state, with some of the records. */
export interface ShownHold extends Hold {
  readonly ids: readonly string[];
  /** Names exactly these records in an approval; only of records that can be approved. */
  readonly check?: string | undefined;
  /** Why they need a person: the rule that holds them together, or why no proof comes by itself. */
  readonly why?: string | undefined;
}

/** Those of some kinds, by state. */
export function countMissing(groups: readonly Omit<Hold, 'since'>[], kinds: readonly string[]) {
  const counts: Record<string, number> = {};
  for (const { kind, state, records } of groups)
    if (kinds.includes(kind)) counts[state] = (counts[state] ?? 0) + records;
  return counts;
}

const IDS_SHOWN = 20;

/** Some of the records, and how many more there are. */
export function idsShown(hold: Pick<ShownHold, 'ids' | 'records'>, limit = IDS_SHOWN): string {
  const shown = hold.ids.slice(0, limit);
  const more = hold.records - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

export type Disappearances = Awaited<ReturnType<typeof readDisappearances>>;

/** Lists the same: those that a person decides, or has decided, apart from the suspected ones, which wait for proof alone. */
export async function readDisappearances(db: Queryable) {
  const isSuspected = (hold: ShownHold): boolean => hold.state === 'suspected';
  const all = await readDisappeared(db);
  return { deletions: all.filter((group) => !isSuspected(group)), suspected: all.filter(isSuspected) };
}

/** Lists all records that disappeared and are not proven to be gone: the suspected ones too, which wait for proof alone. */
export async function readDisappeared(db: Queryable): Promise<readonly ShownHold[]> {
  const shown: ShownHold[] = [];
  for (const { why, ...group } of await readMissing(db)) {
    const records = await readHeldRecords(db, group, { limit: IDS_SHOWN });
    const { kind, state } = group;
    const canApprove = state === 'held' || state === 'rejected';
    const check = canApprove ? { check: await readCheck(db, kind, state) } : {};
    const reason = why !== null && state === 'held' ? { why } : {};
    shown.push({ ...group, ids: records.map((row) => row.id), ...check, ...reason });
  }
  return shown;
}

/** How long a list and its single records may lag behind the answer that named a new one. */
const LAG_MS = 900_000;

/** Ids of records with an unsettled write, or that a create has just made: their absence proves nothing yet. */
export async function readProtected(db: Queryable, kind: string, now: Date): Promise<Set<string>> {
  const since = formatInstant(new Date(now.getTime() - LAG_MS));
  const written = sql`
    select record_id from outbox where kind = ${kind} and record_id is not null
      and (state in ('sending', 'unsettled') or (state = 'done' and operation = 'create' and updated_at >= ${since}))`;
  return new Set(await readTexts(db, written));
}

/** Whether one of our writes waits to be found in the kind's list. */
export async function awaitsSweep(db: Queryable, kind: string): Promise<boolean> {
  return hasRow(db, sql`select 1 from outbox where kind = ${kind} and state = 'unsettled' limit 1`);
}
