import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { AbsentRow, OldestRows } from '../../diff/decide-deletions.ts';
import { textColumn } from '../../db/rows/engine-column.ts';
import { readRows } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { readScope } from '../../store/records/hold-store.ts';

/** Finds the absent rows that are older than every row of the list, by the id or the date that shows the most of them. */
export async function readOldestRows(
  db: Queryable,
  kind: Kind,
  rows: readonly AbsentRow[],
): Promise<OldestRows | null> {
  if (rows.length === 0) return null;
  const absent = new Set(rows.map((row) => row.id));
  const { by: decided, waves } = await readScope(db, kind.name);
  const dates = kind.fields.filter((field) => field.type === 'date' || field.type === 'timestamp');
  let oldest: OldestRows | null = null;
  for (const by of decided === null ? ['id', ...dates.map((field) => field.name)] : [decided]) {
    const ids = await idsBeyondListed(db, kind.name, { by, end: 'first' }, absent);
    if (ids.size > (oldest?.ids.size ?? 0)) oldest = { by, ids, isOutOfScope: decided !== null, waves };
  }
  return oldest;
}

/**
 * Whether rows left a list at one end of it, by the id, a date or the natural key. If it is as long as before, a row that came has
 * pushed each of them out: such a list may be cut.
 *
 * @param fresh The absent rows that the list has not lacked before.
 */
export async function hasLeftAtOneEnd(
  db: Queryable,
  kind: Kind,
  fresh: readonly AbsentRow[],
  rows: readonly AbsentRow[],
): Promise<boolean> {
  const absent = new Set(rows.map((row) => row.id));
  const orders = kind.fields.filter(
    ({ name, type }) => type === 'date' || type === 'timestamp' || kind.naturalKey.includes(name),
  );
  for (const by of ['id', ...orders.map((field) => field.name)])
    for (const end of ['first', 'last'] as const) {
      const beyond = await idsBeyondListed(db, kind.name, { by, end }, absent);
      if (fresh.every((row) => beyond.has(row.id))) return true;
    }
  return false;
}

async function idsBeyondListed(
  db: Queryable,
  kind: string,
  { by, end }: { readonly by: string; readonly end: 'first' | 'last' },
  absent: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const column = sql.identifier(by);
  const order = end === 'first' ? sql`k.${column}, k.id` : sql`k.${column} desc, k.id desc`;
  const rows = await readRows(
    db,
    [textColumn('id'), textColumn('key')],
    sql`select cast(k.id as text) as id, cast(k.${column} as text) as key from ${sql.identifier(kind)} as k
      where k._deleted_at is null and k.${column} is not null order by ${order} limit ${absent.size + 1}`,
  );
  const listed = rows.find((row) => !absent.has(row.id));
  if (listed === undefined) return new Set(); // No row is listed: nothing is beyond it.
  const beyond = rows.slice(0, rows.indexOf(listed)).filter((row) => row.key !== listed.key);
  return new Set(beyond.map((row) => row.id));
}
