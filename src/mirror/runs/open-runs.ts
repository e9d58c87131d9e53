import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Queryable } from '../../db/session/session.ts';
import { KIND_STATE, RUNS, RUN_KINDS } from '../tables/engine-tables.ts';
import { hasRow, select } from '../../db/rows/rows.ts';
import { requestedRuns } from './run-requests.ts';

export interface Reader {
  readonly now: Date;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const ALL = 10_000;

/** Requested runs that can begin, because no process reads their kinds now. */
export async function startableRuns(
  db: Queryable,
  { limit, ...reader }: Reader & { readonly limit: number },
): Promise<WorkRef[]> {
  const waiting = await requestedRuns(db, reader.now, ALL);
  if (waiting.length === 0) return [];
  const open = await openRuns(db);
  const running = open.filter((run) => run.isAskedFor && run.isRunning);
  const busy = new Set([...running.flatMap(({ kinds }) => kinds), ...(await leasedKinds(db, reader))]);
  const isHeld = ({ kinds }: OpenRun): boolean => kinds.some((kind) => busy.has(kind));
  const held = new Set(open.filter((run) => !run.isRunning && isHeld(run)).map(({ id }) => id));
  return waiting.filter(({ id }) => !held.has(id)).slice(0, limit);
}

/** Whether no process pulls, is about to pull or sends; a verification itself does not count. */
export async function isIdle(db: Queryable, reader: Reader): Promise<boolean> {
  const open = (await openRuns(db)).filter(({ command, isAskedFor }) => isAskedFor && command !== 'verify');
  if (open.length > 0 || (await leasedKinds(db, reader)).length > 0) return false;
  return !(await hasRow(db, sql`select 1 from outbox where state = 'sending' limit 1`));
}

/** A run that has not ended, as far as it still has kinds to read. */
interface OpenRun {
  readonly id: number;
  readonly command: string;
  readonly kinds: readonly string[];
  /**
   * True if the run was requested for another process to work. Otherwise its own process works it, and only a lease tells whether that
   * process lives.
   */
  readonly isAskedFor: boolean;
  readonly isRunning: boolean;
}

export async function openRuns(db: Queryable): Promise<OpenRun[]> {
  const runs = await select(db, RUNS, sql`where state in ('requested', 'running') order by id`);
  const isRunning = sql`where run_id in (select id from runs where state = 'running')`;
  const done = await select(db, RUN_KINDS, isRunning);
  return runs.map(({ id, command, kinds, state, epoch }) => ({
    id,
    command,
    kinds: (JSON.parse(kinds) as string[]).filter(
      (name) => !done.some(({ runId, kind }) => runId === id && kind === name),
    ),
    isAskedFor: epoch !== null,
    isRunning: state === 'running',
  }));
}

/** The kinds whose lease is held for a sweep, by an owner that may still be alive: a reading between sweeps makes way. */
export async function leasedKinds(db: Queryable, { now, isDead }: Reader): Promise<string[]> {
  const leased = sql`where owner is not null and lease_yields is null and lease_until > ${instantText(now)}`;
  const rows = await select(db, KIND_STATE, leased);
  return rows.filter(({ owner }) => !isDead(String(owner))).map(({ kind }) => kind);
}
