import { sql, type SQL } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks, sqlList } from '../../db/session/sql-text.ts';
import { saveDirtyRows } from '../sightings/page-store.ts';
import { forgetUnlisted } from '../sightings/sighting-store.ts';
import { bigint, optionalBigint, textColumn, timestampColumn } from '../../db/rows/engine-column.ts';
import { hasRow, readRows, type RowOf } from '../../db/rows/rows.ts';
import { appendChanges } from './change-store.ts';
import { forgetAbsences, saveProofs, type Proof } from './deletion-store.ts';
import { closeIssuesOf, saveRepairs } from './issue-store.ts';
import { batchesById } from './record-store.ts';

/** Records whose rows become tombstones. */
export interface TombstoneBatch {
  readonly kind: string;
  /** At most a few hundred: they go into one statement. */
  readonly ids: readonly string[];
  readonly proof: Proof;
  /** The tick at which the records were known to be gone; a row written since is left alone. */
  readonly response: number;
  readonly runId: number;
  readonly now: Date;
}

/**
 * Marks rows as deleted and appends one event each; their content stays. Returns the ids of the rows that were unchanged
 * since `response`.
 */
export async function writeTombstones(
  tx: Transaction,
  { kind, ids, proof, response, runId, now }: TombstoneBatch,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const at = instantText(now);
  const marking = sql`
    update ${sql.identifier(kind)} set _deleted_at = ${at}, _changed_at = ${at}, _response = ${response}
    where id in (${sqlList(ids)}) and _deleted_at is null and _response < ${response}
    returning cast(id as text) as id, _raw as raw`;
  const rows = await readRows(tx, [textColumn('id'), textColumn('raw')], marking);
  const deleted = rows.map(({ id }) => id);
  if (deleted.length === 0) return [];
  const lastSeen = await saveProofs(tx, kind, { ids: deleted, proof, now });
  await closeIssuesOf(tx, kind, deleted, now);
  await saveDirtyRows(tx, kind, new Map(deleted.map((id) => [id, response])));
  await forgetUnlisted(tx, kind, deleted);
  const events = rows.map(({ id: recordId, raw: before }) => {
    const observedFrom = lastSeen.get(recordId) ?? null;
    return { recordId, change: 'deleted' as const, before, after: null, fields: '{}', observedFrom };
  });
  await appendChanges(tx, { kind, events, origin: 'service', runId, now });
  return deleted;
}

const LIVE_ROW = [
  textColumn('id'),
  bigint('response'),
  timestampColumn('changed_at'),
  optionalBigint('listed'),
];
export type LiveRow = RowOf<typeof LIVE_ROW>;

const live = (kind: string): SQL => sql`
  select cast(id as text) as id, _response as response, _changed_at as changed_at, _listed as listed
  from ${sql.identifier(kind)} as k
  where _deleted_at is null`;

const ROWS_A_QUERY = 5_000;

/** Yields all live rows of a kind in the order of their ids. */
export const liveRows = (db: Queryable, kind: string): AsyncGenerator<readonly LiveRow[]> =>
  batchesById(ROWS_A_QUERY, (after) =>
    readRows(db, LIVE_ROW, sql`${live(kind)} and k.id > ${after} order by k.id limit ${ROWS_A_QUERY}`),
  );

/** Those of these ids whose rows are live. */
export async function liveRowsOf(db: Queryable, kind: string, ids: readonly string[]): Promise<LiveRow[]> {
  const found: LiveRow[] = [];
  for (const some of inChunks(ids))
    found.push(...(await readRows(db, LIVE_ROW, sql`${live(kind)} and k.id in (${sqlList(some)})`)));
  return found;
}

/** A live row that is not a record of the service. */
export interface Stray {
  readonly id: string;
  /** When its deletion was found; null = it never was a record. */
  readonly goneAt: string | null;
}

/**
 * Writes tombstones for strays, without an event, because nothing happened in the service. Returns the ids of those that were
 * live.
 */
export async function tombstoneStrays(
  tx: Transaction,
  kind: string,
  { strays, response, now }: { strays: readonly Stray[]; response: number; now: Date },
): Promise<string[]> {
  const marked: Stray[] = [];
  for (const stray of strays) {
    const mark = sql`
      update ${sql.identifier(kind)} set _deleted_at = ${stray.goneAt ?? instantText(now)}, _response = ${response}
      where id = ${stray.id} and _deleted_at is null returning id`;
    if (await hasRow(tx, mark)) marked.push(stray);
  }
  const ids = marked.map(({ id }) => id);
  const inserted = marked.filter(({ goneAt }) => goneAt === null).map(({ id }) => id);
  await forgetAbsences(tx, kind, inserted);
  await saveDirtyRows(tx, kind, new Map(ids.map((id) => [id, response])));
  const repairs = marked.map(({ id, goneAt }) => ({
    id,
    detail:
      goneAt === null ? 'its row was inserted: the service never showed it' : 'its tombstone was taken away',
  }));
  await saveRepairs(tx, kind, repairs, now);
  return ids;
}

const DEAD_ROW = [textColumn('id'), timestampColumn('deleted_at')];

/** Those of these ids whose rows are tombstones. */
export async function readDead(db: Queryable, kind: string, ids: readonly string[]) {
  const dead: RowOf<typeof DEAD_ROW>[] = [];
  for (const some of inChunks(ids)) {
    const tombstones = sql`
      select cast(k.id as text) as id, _deleted_at as deleted_at from ${sql.identifier(kind)} as k
      where k.id in (${sqlList(some)}) and _deleted_at is not null`;
    dead.push(...(await readRows(db, DEAD_ROW, tombstones)));
  }
  return dead;
}

/** Removes tombstones without a proof: whether these records are gone is still to be shown. */
export async function liftTombstones(
  tx: Transaction,
  kind: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`update ${sql.identifier(kind)} set _deleted_at = null where id in (${sqlList(some)})`);
  const repairs = ids.map((id) => ({ id, detail: 'its row was marked as deleted' }));
  await saveRepairs(tx, kind, repairs, now);
}
