import type { Kind } from '../../catalog/kind.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { obstaclesError } from './obstacle.ts';
import { allObstacles, dropViews, redrawViews } from './postgres-views.ts';
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
  /** Which release has drawn its views. */
  readonly made: 'never' | 'by an older release' | 'by this release';
}

/** @throws {MirrorError} `mirror.blocked_by_view` where something of a user's own must go first. */
export type PutViewsUp = (views: readonly View[]) => Promise<void>;

/**
 * Takes views out of the way of what is to be done to the tables, users' own in SQLite too.
 *
 * @returns What puts views in their place, with the rights that users gave on them, and in SQLite what they built on them.
 * @throws {MirrorError} `mirror.blocked_by_view` where something of a user's own cannot be looked past.
 */
export async function takeViewsDown(tx: Transaction, mirror: ChangingMirror): Promise<PutViewsUp> {
  return mirror.dialect === 'postgres' ? takePostgresDown(tx, mirror) : takeSqliteDown(tx, mirror);
}

async function takePostgresDown(
  tx: Transaction,
  { kinds, location, made }: ChangingMirror,
): Promise<PutViewsUp> {
  const before =
    made === 'never'
      ? { views: new Map(), uses: [], obstacles: [] }
      : await dropViews(tx, { kinds, isOlder: made === 'by an older release' });
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

/** PostgreSQL's codes where something needs what was to be changed or dropped. */
const NEEDED: readonly unknown[] = ['0A000', '2BP01'];

/**
 * Runs a migration; where PostgreSQL refuses a statement for what is built on our tables, all of that is named.
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
      await placeTables(tx, await findMirror(tx, 'postgres'), kinds); // Undone at once: names are those of after it.
      const obstacles = await allObstacles(tx, kinds);
      throw obstacles.length > 0 ? obstaclesError(obstacles, session.location) : error;
    });
  }
}
