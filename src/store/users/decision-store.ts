import type { MessageKey } from '../../lib/text/translator.ts';
import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { countUpTo, insertRows, select } from '../../db/rows/rows.ts';
import { DECISIONS } from '../tables/user-tables.ts';

export type StoredDecision = typeof DECISIONS.$inferSelect;

/** Who decides, and through which interface. */
export type Decider = Pick<StoredDecision, 'who' | 'role' | 'via'>;

/** Where decisions come from, in words. */
export const INTERFACES = {
  command: 'the command line',
  page: 'the dashboard',
  api: 'the HTTP API',
} as const satisfies Record<string, MessageKey>;

/** A decision; only ids, names and our own words may stand in it. */
type Decision = Omit<StoredDecision, 'id' | 'at'>;

/** Notes a decision, in the transaction of what it decides. */
export const saveDecision = (tx: Transaction, decision: Decision, now: Date): Promise<void> =>
  insertRows(tx, DECISIONS, [{ at: formatInstant(now), ...decision }]);

/** A session that notes a decision with the first thing that is written: both land, or neither does. */
export function withDecision(session: Session, decision: Decision, now: Date): Session {
  let isSaved = false;
  const atomically: Session['atomically'] = async (work) => {
    const result = await session.atomically(async (tx) => {
      const done = await work(tx);
      if (!isSaved) await saveDecision(tx, decision, now);
      return done;
    });
    isSaved = true;
    return result;
  };
  return { ...session, atomically };
}

/** Decisions, the newest first; `before` is the number of the one before which they begin. */
export const countDecisions = (db: Queryable): Promise<number> => countUpTo(db, sql`decisions`);

export const listDecisions = (db: Queryable, limit: number, before = Number.MAX_SAFE_INTEGER) =>
  select(db, DECISIONS, sql`where id < ${before} order by id desc limit ${limit}`);
