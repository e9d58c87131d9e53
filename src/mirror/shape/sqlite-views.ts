import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { identifier } from '../session/identifier.ts';
import type { Obstacle } from './obstacle.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { namesOfViews } from '../views/view-names.ts';

/** A view or trigger of a user's own, with its SQL text. */
interface Owned {
  readonly type: 'view' | 'trigger';
  readonly name: string;
  /** The table of a trigger; for a view, its own name. */
  readonly table: string;
  readonly text: string;
  /** Whether it worked when it was set aside. One that was broken before is not reported. */
  readonly worked: boolean;
}

/**
 * Removes all views, ours and users' own, and the users' triggers on tables: SQLite refuses to change a column while one of
 * them refers to a missing object. The caller recreates the users' own.
 */
export async function setViewsAside(tx: Transaction, kinds: readonly Kind[]): Promise<readonly Owned[]> {
  const ours = new Set([...(await namesOfViews(tx, kinds, 'sqlite'))].map(folded));
  const rows = await tx.query(sql`
    select type, name, tbl_name, sql from sqlite_schema where type in ('view', 'trigger') order by rowid`);
  const present = rows.map((row) => ({
    type: row['type'] === 'view' ? ('view' as const) : ('trigger' as const),
    name: String(row['name']),
    table: String(row['tbl_name']),
    text: String(row['sql']),
  }));
  const users = present.filter(({ table }) => !ours.has(folded(table)));
  const owned: Owned[] = [];
  for (const object of users) owned.push({ ...object, worked: await works(tx, object) });
  const isTrigger = ({ type }: Pick<Owned, 'type'>): boolean => type === 'trigger';
  for (const { type, name } of [
    ...users.filter(isTrigger),
    ...present.filter((object) => !isTrigger(object)),
  ])
    await tx.execute(`drop ${type} ${identifier(name)}`);
  return owned;
}

/** Recreates the users' views and triggers after our views; returns those that no longer work. */
export async function putBack(tx: Transaction, owned: readonly Owned[]): Promise<readonly Obstacle[]> {
  for (const { text } of owned) await tx.execute(text);
  const obstacles: Obstacle[] = [];
  for (const object of owned) {
    const { type, name, text, worked } = object;
    if (worked && !(await works(tx, object)))
      obstacles.push({
        name: identifier(name),
        drop: `drop ${type} ${identifier(name)};`,
        create: `${text};`,
      });
  }
  return obstacles;
}

/**
 * SQLite resolves a view when it is read, and a trigger when its table is written. The statements here are only compiled, not
 * run.
 */
async function works(tx: Transaction, { type, table }: Pick<Owned, 'type' | 'table'>): Promise<boolean> {
  const relation = identifier(table);
  const reading = [`explain select * from ${relation}`];
  try {
    for (const statement of type === 'view' ? reading : await writing(tx, table)) await tx.execute(statement); // Run as text, because a prepared statement would not be compiled again.
    return true;
  } catch {
    return false; // Any fault means that it does not work.
  }
}

async function writing(db: Queryable, table: string): Promise<readonly string[]> {
  const columns = await db.query(sql`select name from pragma_table_xinfo(${table}) where hidden = 0`);
  const same = columns.map(({ name }) => `${identifier(String(name))} = ${identifier(String(name))}`);
  const relation = identifier(table);
  return [
    `explain insert into ${relation} default values`,
    `explain update ${relation} set ${same.join(', ')}`,
    `explain delete from ${relation}`,
  ];
}

/** SQLite ignores case in names. */
const folded = (name: string): string => name.toLowerCase();
