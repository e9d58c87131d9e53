import { sql } from 'drizzle-orm';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import { leasedKinds } from '../kinds/kind-lease.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { hasRow, readTexts, select } from '../../db/rows/rows.ts';
import { insertRequest, requestedRuns } from './run-requests.ts';
import type { DueWork } from '../../lib/work-queue.ts';
import { RUNS, RUN_KINDS } from '../tables/engine-tables.ts';

/**
 * Requested runs that can begin beside each other: one backfill, and pulls of different kinds. A kind that is backfilled or leased does
 * not hold up the other kinds of a pull, which reports it as busy.
 */
export async function startableRuns(db: Queryable, limit: number): Promise<DueWork[]> {
  const waiting = await requestedRuns(db);
  if (waiting.length === 0) return [];
  const open = new Map((await openRuns(db)).map((run) => [run.id, run]));
  const begun = [...open.values()].filter((run) => run.isRequested && run.isRunning);
  const leased = await leasedKinds(db);
  const isRead = (kind: string, by: string): boolean =>
    begun.some((run) => run.command === by && run.kinds.includes(kind));
  const isBlocked = ({ command, kinds }: OpenRun): boolean =>
    kinds.some((kind) => isRead(kind, 'pull')) ||
    (kinds.length > 0 && kinds.every((kind) => leased.includes(kind) || isRead(kind, 'backfill'))) ||
    (command === 'backfill' && begun.some((run) => run.command === command));
  const startable = waiting.filter(({ id }) => {
    const run = open.get(id);
    if (run === undefined || run.isRunning || isBlocked(run)) return false;
    begun.push(run);
    return true;
  });
  return startable.slice(0, limit);
}

/** Whether no process pulls, is about to pull or sends; a verification itself does not count. */
export async function isIdle(db: Queryable): Promise<boolean> {
  const open = (await openRuns(db)).filter((run) => run.isRequested && run.command !== 'verify');
  if (open.length > 0 || (await leasedKinds(db)).length > 0) return false;
  return !(await hasRow(db, sql`select 1 from outbox where state = 'sending' limit 1`));
}

/** A run that has not ended, as far as it still has kinds to read. */
type OpenRun = Awaited<ReturnType<typeof openRuns>>[number];

export async function openRuns(db: Queryable) {
  const runs = await select(db, RUNS, sql`where state in ('requested', 'running') order by id`);
  const isRunning = sql`where run_id in (select id from runs where state = 'running')`;
  const done = await select(db, RUN_KINDS, isRunning);
  return runs.map(({ id, command, kinds: allKinds, state, epoch }) => {
    const isDone = (name: string): boolean =>
      done.some((report) => report.runId === id && report.kind === name);
    return {
      id,
      command,
      kinds: allKinds.filter((name) => !isDone(name)),
      allKinds, // Those that it has read or failed to read, too.
      isRequested: epoch !== null, // For another process to work; else only a lease shows whether its process lives.
      isRunning: state === 'running',
    };
  });
}

/** A schedule that has come due. */
export interface SlotRequest {
  readonly schedule: string;
  /** When it came due. */
  readonly slot: Date;
  /** Absent = the first one. */
  readonly attempt?: number;
  readonly kinds: readonly string[];
  readonly now: Date;
}

/**
 * Requests a schedule's run, once a slot even if several processes try, and never for a kind that a run is about to read.
 * @returns `taken`: another process has handled this slot; `served`: every kind is requested or being read already; else the run,
 * and the kinds that have one already.
 */
export async function requestSlot(tx: Transaction, request: SlotRequest) {
  const { attempt = 0 } = request;
  const name = `${request.schedule}@${request.slot.toISOString()}${attempt === 0 ? '' : `#${attempt}`}`;
  const handledUntil = await readHandledUntil(tx, request.schedule);
  const isStored = await hasRow(tx, sql`select 1 from runs where slot = ${name}`);
  const isHandled = attempt === 0 && handledUntil?.getTime() === request.slot.getTime();
  if (isStored || isHandled) return { is: 'taken' as const };
  if (attempt === 0) {
    await saveHandledUntil(tx, request.schedule, request.slot);
    for (const kind of request.kinds) await writeMeta(tx, `due.${kind}`, name);
  }
  const leased = await leasedKinds(tx);
  const pulls = (await openRuns(tx)).filter((run) => run.command === 'pull');
  const isServed = (kind: string): boolean =>
    pulls.some((run) => run.kinds.includes(kind) && (run.isRequested || leased.includes(kind)));
  const kinds = request.kinds.filter((kind) => !isServed(kind));
  if (kinds.length === 0) return { is: 'served' as const };
  const wanted = { command: 'pull', kinds, request: `schedule ${request.schedule}`, slot: name } as const;
  const runId = await insertRequest(tx, { ...wanted, now: request.now });
  return { is: 'requested' as const, runId, served: request.kinds.filter(isServed) };
}

/** The instant up to which a schedule's slots are handled; null before its first check. */
export async function readHandledUntil(db: Queryable, schedule: string): Promise<Date | null> {
  const handledUntil = await readMeta(db, `schedules.${schedule}`);
  return handledUntil === null ? null : parseInstant(handledUntil);
}

export async function saveHandledUntil(tx: Transaction, schedule: string, handledUntil: Date): Promise<void> {
  await writeMeta(tx, `schedules.${schedule}`, formatInstant(handledUntil));
}

/** Since when (ISO) `serve` pulls by each schedule as it is, or was last: by the schedule's text. */
export async function readAppliesSince(db: Queryable): Promise<ReadonlyMap<string, string>> {
  const stored = await readTexts(db, sql`select value from mirror_meta where key like 'applies.%'`);
  return new Map(stored.map((value) => JSON.parse(value) as [string, string]));
}
