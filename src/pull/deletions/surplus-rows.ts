import type { Spans } from '../../diff/spans.ts';
import type { KindLease } from '../../store/kinds/kind-lease.ts';
import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { pickColumns, readTexts, select } from '../../db/rows/rows.ts';
import { saveDirtyRows } from '../../store/sightings/page-store.ts';
import { CHANGES } from '../../store/tables/change-tables.ts';
import { forgetAbsences } from '../../store/records/deletion-store.ts';
import type { LiveRow } from './tombstone-store.ts';

/**
 * Returns the ids of those live rows that are not records, as far as is known: their last event is their deletion, or no list,
 * event, entry or note names them. Each row that we write leaves such a trace in the same transaction.
 */
export async function findSurplus(
  db: Queryable,
  kind: string,
  rows: readonly LiveRow[],
  evidence: Pick<KindLease, 'knownFrom'> & Pick<Spans, 'lastShown'>,
): Promise<ReadonlySet<string>> {
  const surplus = new Set<string>();
  for (const some of inChunks(rows)) {
    const isOne = sql`kind = ${kind} and record_id in (${sqlList(some.map((row) => row.id))})`;
    const newest = sql`where seq in (select max(seq) from changes where ${isOne} group by record_id)`;
    const events = await select(db, pickColumns(CHANGES, 'recordId', 'change'), newest);
    const last = new Map(events.map((event) => [event.recordId, event.change]));
    const concluded = sql`select record_id from deletions where ${isOne} and concluded_at is not null`;
    const gone = new Set(await readTexts(db, concluded));
    const noted = sql`
      select record_id from unlisted_rows where ${isOne} union select record_id from links where ${isOne}
      union select record_id from outbox where ${isOne}`;
    const named = new Set(await readTexts(db, noted));
    for (const { id, response } of some) {
      const change = last.get(id);
      // Rows from before that tick were shown by another source.
      const isOfEarlierSource = evidence.knownFrom > 0 && response <= evidence.knownFrom;
      const isNamed = named.has(id) || evidence.lastShown(id) !== null || isOfEarlierSource;
      if (change === undefined ? gone.has(id) || !isNamed : change === 'deleted') surplus.add(id);
    }
  }
  return surplus;
}

/** Writes tombstones for surplus rows, without an event, because nothing happened in the service. */
export async function removeSurplus(
  tx: Transaction,
  kind: string,
  { ids, response, now }: { readonly ids: readonly string[]; readonly response: number; readonly now: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`
    update ${sql.identifier(kind)} set _deleted_at = ${formatInstant(now)}, _response = ${response}
    where id in (${sqlList(ids)}) and _deleted_at is null`);
  await forgetAbsences(tx, kind, ids);
  await saveDirtyRows(tx, kind, new Map(ids.map((id) => [id, response])));
}
