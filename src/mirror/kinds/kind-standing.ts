import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable } from '../session/session.ts';

/** How much the mirror knows of a kind's list, and since when; instants are texts, null = never. */
export interface KindStanding {
  readonly tick: number;
  /** The instant at which the list was last known exactly. */
  readonly certifiedAt: string | null;
  readonly baselineAt: string | null;
  /** The end of the last sweep that reached the end of the list. */
  readonly lastSweepAt: string | null;
  /** The number of consecutive sweeps in which a record known to exist could not be retrieved. */
  readonly controlFailures: number;
}

export async function readStanding(db: Queryable, kind: string): Promise<KindStanding> {
  const [row = {}] = await db.query(sql`
    select tick, certified_at, baseline_at, last_sweep_at, control_failures from kind_state where kind = ${kind}`);
  const text = (name: string): string | null => (typeof row[name] === 'string' ? row[name] : null);
  return {
    tick: Number(row['tick'] ?? 0),
    certifiedAt: text('certified_at'),
    baselineAt: text('baseline_at'),
    lastSweepAt: text('last_sweep_at'),
    controlFailures: Number(row['control_failures'] ?? 0),
  };
}

/** How many sweeps that began at an instant or later have read the whole list of a kind. */
export async function countCompleteSweeps(db: Queryable, kind: string, since: Date): Promise<number> {
  const [row] = await db.query(sql`
    select count(*) as sweeps from run_kinds as k join runs as r on r.id = k.run_id
    where k.kind = ${kind} and k.state in ('certified', 'complete') and k.started_at >= ${instantText(since)}
      and r.command = 'pull'`);
  return Number(row?.['sweeps'] ?? 0);
}
