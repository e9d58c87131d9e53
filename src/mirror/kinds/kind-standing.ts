import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { readNumber, selectOne } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

type State = RowOf<typeof KIND_STATE>;

/** How much the mirror knows of a kind's list, and since when; instants are texts, null = never. */
export interface KindStanding extends Pick<State, 'tick' | 'certifiedAt' | 'baselineAt' | 'lastSweepAt'> {
  /** Sweeps that have read the whole list. */
  readonly completeSweeps: number;
  /** The number of consecutive sweeps in which a record known to exist could not be retrieved. */
  readonly controlFailures: number;
}

export async function readStanding(db: Queryable, kind: string): Promise<KindStanding> {
  const row = await selectOne(db, KIND_STATE, sql`where kind = ${kind}`);
  if (row === null) return NEVER_READ;
  const { tick, certifiedAt, baselineAt, lastSweepAt, completeSweeps, controlFailures } = row;
  return {
    ...{ tick, certifiedAt, baselineAt, lastSweepAt },
    ...{ completeSweeps, controlFailures: controlFailures ?? 0 },
  };
}

const NEVER_READ: KindStanding = {
  tick: 0,
  certifiedAt: null,
  baselineAt: null,
  lastSweepAt: null,
  completeSweeps: 0,
  controlFailures: 0,
};

/** How many sweeps that began at an instant or later have read the whole list of a kind. */
export async function countCompleteSweeps(db: Queryable, kind: string, since: Date): Promise<number> {
  const sweeps = sql`
    select count(*) from run_kinds as k join runs as r on r.id = k.run_id
    where k.kind = ${kind} and k.state in ('certified', 'complete') and k.started_at >= ${instantText(since)}
      and r.command = 'pull'`;
  return (await readNumber(db, sweeps)) ?? 0;
}

/** Notes that a write of ours has changed a record of a kind; sweeps note their changes as they end. */
export async function noteOwnChange(tx: Transaction, kind: string, now: Date): Promise<void> {
  await tx.query(sql`update kind_state set last_change_at = ${instantText(now)} where kind = ${kind}`);
}
