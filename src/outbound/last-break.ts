import { sql } from 'drizzle-orm';
import type { Clock } from '../lib/time/clock.ts';
import { endedMs, type Reading } from '../store/kinds/kind-standing.ts';
import { readMeta } from '../store/kinds/meta.ts';
import { readServerStart } from '../db/session/database-info.ts';
import type { Session, Transaction } from '../db/session/session.ts';
import { readNumber } from '../db/rows/rows.ts';

/**
 * An instant before which the database may have gone back unnoticed: this process started, a person resumed sends, the database
 * server is another one or was restarted, or the machine stood still. What the mirror knew before proves nothing about a create.
 */
export interface Break {
  /** This run and later ones began since: numbers of runs need no clock. */
  readonly firstRun: number;
  /** The last entry that was stored before. */
  readonly lastEntry: number;
  /** What the database and its server are known by. */
  readonly mark: string;
  /** How far the wall clock is ahead of the monotonic one. */
  readonly aheadMs: number;
}

const MAX_APART_MS = 60_000;

/** Returns the last break. A new one is found in the transaction that claims: a pooler hides that its server was replaced. */
export async function findLastBreak(
  db: Session | Transaction,
  { ownSends, clock }: { readonly ownSends: { lastBreak: Break | null }; readonly clock: Clock },
): Promise<Break> {
  const mark = `${await readMeta(db, 'log')} ${await readServerStart(db)}`;
  const aheadMs = clock.now().getTime() - clock.monotonicMs();
  const { lastBreak: last } = ownSends;
  if (last?.mark === mark && Math.abs(aheadMs - last.aheadMs) <= MAX_APART_MS) return last;
  const lastRun = (await readNumber(db, sql`select max(id) from runs where state <> 'requested'`)) ?? 0;
  const lastEntry = (await readNumber(db, sql`select max(id) from outbox`)) ?? 0;
  return (ownSends.lastBreak = { firstRun: lastRun + 1, lastEntry, mark, aheadMs });
}

/** How old the mirror's knowledge of a list may be where something is concluded from what the list lacks. */
const FRESH_MS = 900_000;

/** Whether a sweep shows what a list holds now: it began since the last break and ended a short time ago, not in the future. */
export const isCurrent = (reading: Reading, { firstRun }: Break, now: Date): boolean =>
  reading.runId >= firstRun && Math.abs(now.getTime() - endedMs(reading)) <= FRESH_MS;
