import type { Kind } from '../../catalog/kind.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { obstaclesError } from './obstacle.ts';
import { allObstacles, dropViews, redrawViews } from './postgres-views.ts';
import type { Retyping } from './plan-retyping.ts';
import { findMirror, placeTables } from './place-tables.ts';
import type { Session, Transaction } from '../session/session.ts';
import { putBack, setViewsAside } from './sqlite-views.ts';
import { drawViews } from '../views/views.ts';
import type { View } from '../views/view.ts';

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
    if (!(error instanceof Error && 'code' in error && NEEDED.includes(error.code))) throw error;
    return session.atomically(async (tx) => {
      await placeTables(tx, await findMirror(tx, 'postgres'), kinds); // Rolled back at once: the names are those after the move.
      const obstacles = await allObstacles(tx, kinds);
      throw obstacles.length > 0 ? obstaclesError(obstacles, session.location) : error;
    });
  }
}
