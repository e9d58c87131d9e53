import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import { forgetAbsences } from './deletion-store.ts';
import { saveRepairs } from './issue-store.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { inChunks, sqlList } from '../session/sql-text.ts';
import { saveDirtyRows } from '../sightings/page-store.ts';
import { text, timestamp } from '../tables/engine-column.ts';
import { hasRow, readRows } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** A live row that is not a record of the service. */
export interface Stray {
  readonly id: string;
  /** When its deletion was found; null = it never was a record. */
  readonly goneAt: string | null;
}

interface Marking {
  readonly strays: readonly Stray[];
  readonly response: number;
  readonly now: Date;
}

/**
 * Writes tombstones for strays, without an event, because nothing happened in the service. Returns the ids of those that were
 * live.
 */
export async function tombstoneStrays(
  tx: Transaction,
  kind: string,
  { strays, response, now }: Marking,
): Promise<string[]> {
  const marked: Stray[] = [];
  for (const stray of strays) {
    const mark = sql`
      update ${sql.identifier(kind)} set _deleted_at = ${stray.goneAt ?? instantText(now)}, _response = ${response}
      where id = ${stray.id} and _deleted_at is null returning id`;
    if (await hasRow(tx, mark)) marked.push(stray);
  }
  const ids = marked.map(({ id }) => id);
  await forgetAbsences(
    tx,
    kind,
    marked.filter(({ goneAt }) => goneAt === null).map(({ id }) => id),
  );
  await saveDirtyRows(tx, kind, { ids, response });
  const repairs = marked.map(({ id, goneAt }) => ({
    id,
    detail:
      goneAt === null ? 'its row was inserted: the service never showed it' : 'its tombstone was taken away',
  }));
  await saveRepairs(tx, kind, { repairs, now });
  return ids;
}

const DEAD_ROW = [text('id'), timestamp('deleted_at')];
type DeadRow = RowOf<typeof DEAD_ROW>;

/** Those of these ids whose rows are tombstones. */
export async function readDead(db: Queryable, kind: string, ids: readonly string[]): Promise<DeadRow[]> {
  const dead: DeadRow[] = [];
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
  { ids, now }: { readonly ids: readonly string[]; readonly now: Date },
): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`update ${sql.identifier(kind)} set _deleted_at = null where id in (${sqlList(some)})`);
  const repairs = ids.map((id) => ({ id, detail: 'its row was marked as deleted' }));
  await saveRepairs(tx, kind, { repairs, now });
}
