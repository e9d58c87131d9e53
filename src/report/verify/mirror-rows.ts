import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { idsIn } from '../../store/records/nested-rows.ts';
import { liveIds } from '../../store/records/record-store.ts';
import type { Queryable, Row, Session } from '../../db/session/session.ts';
import { filledColumns } from '../../store/tables/kind-table.ts';
import { readTexts } from '../../db/rows/rows.ts';
import { inChunks } from '../../db/session/sql-text.ts';

/** All reading is outside of transactions: neither database's writer ever waits for an audit. */

const ROWS_PER_QUERY = 100;
const SIGHTINGS_PER_QUERY = 200;

/** Reads the rows with these ids, deleted ones too, in several queries with a turn of the event loop after each. */
export async function readComparedRows(
  db: Session,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const filled = filledColumns(kind, db.dialect, true).filter((name) => name !== 'id');
  const names = [...filled, '_raw', '_deleted_at'].map((name) => sql.identifier(name));
  const columns = sql.join(names, sql`, `);
  const rows = new Map<string, Row>();
  for (const chunk of inChunks(ids, ROWS_PER_QUERY)) {
    const chunkRows = await db.query(sql`
      select cast(id as text) as id, ${columns} from ${sql.identifier(kind.name)} as k
      where k.id in ${idsIn(db, chunk)}`);
    for (const row of chunkRows) rows.set(String(row['id']), row);
    await yieldToEventLoop();
  }
  return rows;
}

/** The ids of all live rows. */
export async function readLiveIds(db: Queryable, kind: string): Promise<ReadonlySet<string>> {
  const live = new Set<string>();
  for await (const ids of liveIds(db, kind)) {
    for (const id of ids.split(',')) if (id !== '') live.add(id);
    await yieldToEventLoop();
  }
  return live;
}

/** The ids that the list lacks and the mirror can explain: their absence is noted, or a kept list response showed them. */
export async function readExplainedIds(
  db: Queryable,
  kind: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const noted = sql`select record_id from deletions where kind = ${kind} and concluded_at is null`;
  const explainedIds = new Set((await readTexts(db, noted)).filter((id) => ids.has(id)));
  for (let after: string | null = '-1'; after !== null;) {
    const from: string = after;
    const rows = await db.query(sql`
      select answered, ids from sightings
      where kind = ${kind} and answered > ${from} order by answered limit ${SIGHTINGS_PER_QUERY}`);
    const shown = rows.flatMap((row) => String(row['ids']).match(/\d+/g) ?? []);
    for (const id of shown) if (ids.has(id)) explainedIds.add(id);
    after = rows.length < SIGHTINGS_PER_QUERY ? null : String(rows.at(-1)?.['answered']);
    await yieldToEventLoop();
  }
  return explainedIds;
}
