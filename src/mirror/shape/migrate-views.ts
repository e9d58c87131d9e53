import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { errorCode } from '../../lib/sync-error.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';
import { identifier } from '../session/sql-text.ts';
import { text } from '../tables/engine-column.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { readRows, readTexts } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';
import { dropAsOf } from '../views/as-of-functions.ts';
import { drawViews } from '../views/draw-views.ts';
import type { View } from '../views/draw-views.ts';
import { namesOfViews } from '../views/views.ts';
import { obstaclesError } from './obstacles.ts';
import type { Obstacle } from './obstacles.ts';
import { findMirror, placeTables } from './place-tables.ts';
import type { Retyping } from './plan-retyping.ts';
import { allObstacles, dropViews, redrawViews } from './postgres-views.ts';

/** A mirror whose tables are about to change. */
export interface ChangingMirror {
  readonly kinds: readonly Kind[];
  readonly dialect: Dialect;
  readonly location: string;
  /** The release that created its views. */
  readonly made: 'never' | 'by an older release' | 'by this release';
  /** The columns that change their types. */
  readonly retyping: readonly Retyping[];
}

/** @throws {MirrorError} `mirror.blocked_by_view` if a user must first drop an object of their own. */
type PutViewsUp = (views: readonly View[]) => Promise<void>;

/**
 * Removes the views that would block changes to the tables; in SQLite, users' own views too.
 *
 * @returns A function that creates the views again, with the rights that users granted on them and, in SQLite, users' own
 * objects.
 * @throws {MirrorError} `mirror.blocked_by_view` if an object of a user's own blocks the migration.
 */
export async function takeViewsDown(tx: Transaction, mirror: ChangingMirror): Promise<PutViewsUp> {
  return mirror.dialect === 'postgres' ? takePostgresDown(tx, mirror) : takeSqliteDown(tx, mirror);
}

async function takePostgresDown(
  tx: Transaction,
  { kinds, location, made, retyping }: ChangingMirror,
): Promise<PutViewsUp> {
  const before =
    made === 'never'
      ? { views: new Map(), uses: [], obstacles: [] }
      : await dropViews(tx, { kinds, isOlder: made === 'by an older release', retyping });
  if (before.obstacles.some(({ drop }) => drop === null)) throw obstaclesError(before.obstacles, location);
  return async (views) => {
    const obstacles = [...before.obstacles, ...(await redrawViews(tx, views, before))];
    if (obstacles.length > 0) throw obstaclesError(obstacles, location);
  };
}

async function takeSqliteDown(
  tx: Transaction,
  { kinds, location, made }: ChangingMirror,
): Promise<PutViewsUp> {
  const owned = made === 'by an older release' ? await setViewsAside(tx, kinds) : [];
  return async (views) => {
    await drawViews(tx, views, 'sqlite');
    const obstacles = await putBack(tx, owned);
    if (obstacles.length > 0) throw obstaclesError(obstacles, location);
  };
}

/** PostgreSQL's error codes for a change or drop of an object that others depend on. */
const NEEDED: readonly unknown[] = ['0A000', '2BP01'];

/**
 * Runs a migration. If PostgreSQL refuses a statement because of objects that depend on our tables, the error names all of
 * them.
 *
 * @throws {MirrorError} `mirror.blocked_by_view`.
 */
export async function namingObstacles<T>(
  session: Session,
  kinds: readonly Kind[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!NEEDED.includes(errorCode(error))) throw error;
    return session.atomically(async (tx) => {
      await placeTables(tx, await findMirror(tx, 'postgres'), kinds); // Rolled back at once: the names are those after the move.
      await dropAsOf(tx);
      const obstacles = await allObstacles(tx, kinds);
      throw obstacles.length > 0 ? obstaclesError(obstacles, session.location) : error;
    });
  }
}

const VIEW_OR_TRIGGER = [
  text<'type', 'view' | 'trigger'>('type'),
  text('name'),
  text('table'), // The table of a trigger; for a view, its own name.
  text('text'),
];

/** A view or trigger of a user's own, with its SQL text. */
interface Owned extends RowOf<typeof VIEW_OR_TRIGGER> {
  /** Whether it worked when it was set aside. One that was broken before is not reported. */
  readonly worked: boolean;
}

/**
 * Removes all views, ours and users' own, and the users' triggers on tables: SQLite refuses to change a column while one of
 * them refers to a missing object. The caller recreates the users' own.
 */
async function setViewsAside(tx: Transaction, kinds: readonly Kind[]): Promise<readonly Owned[]> {
  const ours = new Set([...(await namesOfViews(tx, kinds, 'sqlite'))].map(folded));
  const objects = sql`
    select type, name, tbl_name as "table", sql as text from sqlite_schema
    where type in ('view', 'trigger') order by rowid`;
  const present = await readRows(tx, VIEW_OR_TRIGGER, objects);
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
async function putBack(tx: Transaction, owned: readonly Owned[]): Promise<readonly Obstacle[]> {
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
  const columns = await readTexts(db, sql`select name from pragma_table_xinfo(${table}) where hidden = 0`);
  const same = columns.map((name) => `${identifier(name)} = ${identifier(name)}`);
  const relation = identifier(table);
  return [
    `explain insert into ${relation} default values`,
    `explain update ${relation} set ${same.join(', ')}`,
    `explain delete from ${relation}`,
  ];
}

/** SQLite ignores case in names. */
const folded = (name: string): string => name.toLowerCase();
