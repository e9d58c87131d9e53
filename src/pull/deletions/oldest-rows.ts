import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import type { AbsentRow, OldestRows } from '../../diff/absence.ts';
import { readRows } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { readScope } from '../../store/records/hold-store.ts';

/** The fields by which a list may be ordered: the id, the dates, and others. */
const orders = (kind: Kind, others: Kind['naturalKey']): readonly string[] => {
  const isOne = ({ name, type }: Field): boolean =>
    type === 'date' || type === 'timestamp' || others.includes(name);
  return ['id', ...kind.fields.filter(isOne).map((field) => field.name)];
};

/** Finds the absent rows that are older than every row of the list, by the id or the date that shows the most of them. */
export async function readOldestRows(
  db: Queryable,
  kind: Kind,
  absent: ReadonlySet<string>,
): Promise<OldestRows | null> {
  if (absent.size === 0) return null;
  const { by: decided, waves } = await readScope(db, kind.name);
  let oldest: OldestRows | null = null;
  for (const by of decided === null ? orders(kind, []) : [decided]) {
    const ids = await idsBeyondListed(db, kind.name, { by, end: 'first' }, absent);
    if (ids.size > (oldest?.ids.size ?? 0)) oldest = { by, ids, isOutOfScope: decided !== null, waves };
  }
  return oldest;
}

/**
 * Whether rows left a list at one end of it, by the id, a date or the natural key. If it is as long as before, a row that came has
 * pushed each of them out: such a list may be cut.
 * @param fresh The absent rows that the list has not lacked before.
 */
export async function hasLeftAtOneEnd(
  db: Queryable,
  kind: Kind,
  fresh: readonly AbsentRow[],
  absent: ReadonlySet<string>,
): Promise<boolean> {
  for (const by of orders(kind, kind.naturalKey))
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
    { id: String, key: String },
    sql`select cast(k.id as text) as id, cast(k.${column} as text) as key from ${sql.identifier(kind)} as k
      where k._deleted_at is null and k.${column} is not null order by ${order} limit ${absent.size + 1}`,
  );
  const listed = rows.find((row) => !absent.has(row.id));
  if (listed === undefined) return new Set(); // No row is listed: nothing is beyond it.
  const beyond = rows.slice(0, rows.indexOf(listed)).filter((row) => row.key !== listed.key);
  return new Set(beyond.map((row) => row.id));
}
