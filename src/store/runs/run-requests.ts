import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { DueWork, WorkRef } from '../../lib/work-queue.ts';
import { hasEnded } from '../../lib/owner.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { RUNS } from '../tables/engine-tables.ts';
import {
  hasRow,
  insertInto,
  pickColumns,
  raiseRowEpoch,
  readNumber,
  readRow,
  select,
  type WorkClaim,
} from '../../db/rows/rows.ts';
import { leaseEnd, readAlive } from '../kinds/liveness.ts';

/** Work that another process does. */
export interface RequestedRun {
  readonly command: 'pull' | 'backfill';
  readonly kinds: readonly string[];
  /** Of a pull, who asked for it; of a backfill, its extent. */
  readonly request: string;
}

/** Requests a pull of these kinds; `request` names the requester. */
export const requestPull = (tx: Transaction, pull: Omit<RequestedRun, 'command'> & { now: Date }) =>
  requestRun(tx, { ...pull, command: 'pull' });

/** Requests a run; an equal request that has not begun serves both. Returns its id. */
export async function requestRun(tx: Transaction, { now, ...run }: RequestedRun & { now: Date }) {
  const { command, request } = run;
  const equal = sql`
    select id from runs where command = ${command} and state = 'requested' and kinds = ${JSON.stringify(run.kinds)}
      and (command = 'pull' or request = ${request}) order by id limit 1`;
  const waiting = await readNumber(tx, equal);
  return waiting ?? insertRequest(tx, { ...run, now });
}

/** Whether a pull of a kind that was requested with a run or later has not ended. */
export async function isPullOpen(db: Queryable, kind: string, from: number): Promise<boolean> {
  const open = sql`
    select 1 from runs where command = 'pull' and state in ('requested', 'running') and id >= ${from}
      and kinds like ${`%"${kind}"%`} limit 1`;
  return hasRow(db, open);
}

/** Stores a run that waits for a process; returns its id. */
export async function insertRequest(
  tx: Transaction,
  { now, ...request }: RequestedRun & { slot?: string; now: Date },
): Promise<number> {
  const requestedAt = formatInstant(now);
  const run = { ...request, state: 'requested', requestedAt, epoch: 0 } as const;
  return (await readNumber(tx, sql`${insertInto(RUNS, run)} returning id`)) ?? 0;
}

/** Requested runs that have not begun, oldest first. */
export async function requestedRuns(db: Queryable): Promise<DueWork[]> {
  const columns = pickColumns(RUNS, 'id', 'epoch', 'command', 'kinds');
  const rows = await select(db, columns, sql`where state = 'requested' order by id`);
  return rows.map(({ id, epoch, command, kinds }) => {
    return { id, epoch: epoch ?? 0, task: [command, ...kinds].join(' ') };
  });
}

/** Raises the epoch of a run that still waits with this one; null if it does not. */
export const raiseRun = (tx: Transaction, ref: WorkRef): Promise<WorkRef | null> =>
  raiseRowEpoch(tx, { table: RUNS, isDue: sql`state = 'requested'` }, ref);

/** Begins a requested run by compare-and-set; returns it, or null if another process has claimed it. */
export async function claimRun(tx: Transaction, claim: WorkClaim) {
  const { id, epoch, owner, now } = claim;
  const begun = sql`
    update runs set state = 'running', owner = ${owner}, started_at = ${formatInstant(now)}, epoch = ${epoch + 1},
      lease_until = ${leaseEnd(tx)}
    where id = ${id} and state = 'requested' and coalesce(epoch, 0) = ${epoch} returning command, kinds, request, slot`;
  return readRow(tx, pickColumns(RUNS, 'command', 'kinds', 'request', 'slot'), begun);
}

/** Ends the runs of dead processes; requested ones wait for another process. */
export async function closeStaleRuns(tx: Transaction, now: Date): Promise<void> {
  const running = await select(tx, RUNS, sql`where state = 'running'`);
  for (const { id, state, reason } of await judgeRuns(tx, running)) {
    if (state === 'requested') await requestAgain(tx, id);
    if (state !== 'interrupted') continue;
    await tx.query(sql`
      update runs set state = 'interrupted', reason = ${reason}, finished_at = ${formatInstant(now)}, lease_until = null
      where id = ${id}`);
  }
}

/** Shows the runs whose process is gone as they will be stored: a requested one is worked again. */
export async function judgeRuns<Run extends typeof RUNS.$inferSelect>(db: Queryable, runs: readonly Run[]) {
  const living = await readAlive(db, pickColumns(RUNS, 'id', 'owner'), 'lease_until');
  const livingIds = new Set(living.map((run) => run.id));
  return runs.map((run): Run => {
    if (run.state !== 'running' || livingIds.has(run.id)) return run;
    if (run.epoch !== null && run.epoch < MAX_EPOCH) return { ...run, state: 'requested' };
    return {
      ...run,
      state: 'interrupted',
      reason: hasEnded(String(run.owner)) ? 'its process ended' : 'its process sent no more heartbeats',
    };
  });
}

/** Requests a run again that was cut off because its process had to end, as after a crash. */
export async function resumeInterrupted(tx: Transaction, id: number): Promise<void> {
  const mayResume = sql`select 1 from runs where id = ${id} and state = 'interrupted' and epoch < ${MAX_EPOCH}`;
  if (await hasRow(tx, mayResume)) await requestAgain(tx, id);
}

async function requestAgain(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql`delete from run_kinds where run_id = ${id}`); // The run starts over with an empty report.
  await tx.query(sql`
    update runs set state = 'requested', owner = null, lease_until = null, reason = null, finished_at = null,
      epoch = epoch + 1
    where id = ${id}`);
}

/** A run and the owner that claims to work it. */
export interface OwnedRun {
  readonly runId: number;
  readonly owner: string;
}

/** Five processes may die on a run before it is given up: a claim and a death raise its epoch by one each. */
const MAX_EPOCH = 10;

/** Renews a run's lease; does nothing if another process owns the run by now. */
export async function renewRun(tx: Transaction, run: OwnedRun): Promise<void> {
  await tx.query(sql`
    update runs set lease_until = ${leaseEnd(tx)}
    where id = ${run.runId} and owner = ${run.owner} and state = 'running'`);
}

/** Whether the process still owns the run: after a long standstill another may have taken it over. */
export async function isRunOwner(tx: Transaction, run: OwnedRun): Promise<boolean> {
  return hasRow(tx, sql`select 1 from runs where id = ${run.runId} and owner = ${run.owner}`);
}
