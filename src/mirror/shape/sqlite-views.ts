import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { identifier } from '../session/identifier.ts';
import type { Obstacle } from './obstacle.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { namesOfViews } from '../views/view-names.ts';

/** A view or trigger of a user's own; its text is all that there is of it. */
interface Owned {
  readonly type: 'view' | 'trigger';
  readonly name: string;
  /** The table that a trigger is on; of a view its own name. */
  readonly table: string;
  readonly text: string;
  /** Whether it worked when it was set aside: one that was broken before is no concern of ours. */
  readonly worked: boolean;
}

/**
 * Removes all views, ours and users' own, and the users' triggers on tables: SQLite changes no column while one of them
 * names what is not there. The users' are to be put back.
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

/** Puts back what was set aside, once our views are there; returns what no longer works. */
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

/** SQLite looks for a view's parts when it is read, and for a trigger's when its table is written: neither is done here. */
async function works(tx: Transaction, { type, table }: Pick<Owned, 'type' | 'table'>): Promise<boolean> {
  const relation = identifier(table);
  const reading = [`explain select * from ${relation}`];
  try {
    for (const statement of type === 'view' ? reading : await writing(tx, table)) await tx.execute(statement); // Compiled anew, which a prepared one would not be.
    return true;
  } catch {
    return false; // Whatever its fault: the answer is what was asked for.
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

/** SQLite takes no notice of case in names. */
const folded = (name: string): string => name.toLowerCase();
