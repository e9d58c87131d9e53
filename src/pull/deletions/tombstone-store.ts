import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { saveDirtyRows } from '../../store/sightings/page-store.ts';
import { forgetUnlisted } from '../../store/sightings/sighting-store.ts';
import { orNull, readInChunks, readRows, type RowOf } from '../../db/rows/rows.ts';
import { appendChanges } from '../../store/records/change-store.ts';
import { saveProofs, type Proof } from '../../store/records/deletion-store.ts';
import { closeIssuesOf } from '../../store/records/issue-store.ts';
import { batchesById } from '../../db/rows/slices.ts';

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
export async function writeTombstones(tx: Transaction, batch: TombstoneBatch): Promise<string[]> {
  const { kind, ids, proof, response, runId, now } = batch;
  if (ids.length === 0) return [];
  const at = formatInstant(now);
  const marking = sql`
    update ${sql.identifier(kind)} set _deleted_at = ${at}, _changed_at = ${at}, _response = ${response}
    where id in (${sqlList(ids)}) and _deleted_at is null and _response < ${response}
    returning cast(id as text) as id, _raw as raw`;
  const rows = await readRows(tx, { id: String, raw: String }, marking);
  const deleted = rows.map((row) => row.id);
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

const LIVE_ROW = { id: String, response: Number, changedAt: String, listed: orNull(Number) };
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

/** Reads the rows with these ids that are live. */
export const liveRowsOf = (db: Queryable, kind: string, ids: readonly string[]): Promise<LiveRow[]> =>
  readInChunks(ids, (some) => readRows(db, LIVE_ROW, sql`${live(kind)} and k.id in (${some})`));
