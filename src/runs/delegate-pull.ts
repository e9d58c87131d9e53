import { instantOf, sleepUnlessStopped } from '../lib/time/clock.ts';
import { SyncError } from '../lib/sync-error.ts';
import { claimWaitingRun, closeDeadRuns, requestPull } from '../mirror/runs/run-requests.ts';
import { findRun } from '../mirror/runs/run-store.ts';
import type { RunState } from '../mirror/runs/run-store.ts';
import { openRuns, readProgress } from '../mirror/runs/open-runs.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { goneOwners, isServed } from '../mirror/runs/worker-store.ts';
import { notSwept, withZone } from '../pull/pull-kinds.ts';
import type { PullParts } from '../pull/run/parts.ts';
import type { PullReport, PullRequest } from '../pull/pull-kinds.ts';

/** A pull that the background service has done, or the run that this process must now work; without `runId` if no run was requested. */
type Handed = { readonly report: PullReport } | { readonly runId?: number };

type DelegatedRun = NonNullable<Awaited<ReturnType<typeof findRun>>>;
type Parts = Pick<PullParts, 'session' | 'clock' | 'logger' | 'owner' | 'signal' | 'onProgress'>;

const LOOK_MS = 500;

/**
 * Requests a pull from the background service and waits for it. If no service is running, or it dies, the caller does the
 * work.
 *
 * A pull that accepts another source is not delegated: the accepting command must do it itself.
 *
 * @throws {OtherSourceError} If the mirror holds another source's data. @throws {SyncError} `run.failed`
 */
export async function delegatePull(parts: Parts, request: PullRequest): Promise<Handed> {
  const { session, clock, logger } = parts;
  if (request.acceptNewSource || !(await isServed(session, 'pulls', lifeOf(parts)))) return {};
  await claimSource(session, { baseUrl: request.baseUrl, acceptNew: false });
  const kinds = request.kinds.map(({ name }) => name);
  const wanted = { kinds, request: 'pull', now: clock.now() };
  const runId = await session.atomically((tx) => requestPull(tx, wanted));
  logger.info({ runId }, 'asked the background service for it');
  return follow(parts, request, { runId, startedMs: clock.monotonicMs() });
}

interface Asked {
  readonly runId: number;
  readonly startedMs: number;
}

async function follow(parts: Parts, request: PullRequest, { runId, startedMs }: Asked): Promise<Handed> {
  const { session, clock, signal } = parts;
  const tell = createFollower(parts);
  for (let before: RunState | null = null; ;) {
    const run = await requireSuccess(parts, runId);
    if (hasEnded(run.state, before) || signal?.aborted === true) {
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      return { report: { ...reportOf(run, request, clock.now()), durationMs } };
    }
    if (!(await isServed(session, 'pulls', lifeOf(parts))) && (await takeOver(parts, runId)))
      return { runId };
    await tell(run);
    before = run.state;
    await sleepUnlessStopped(LOOK_MS, parts);
  }
}

/** @throws {SyncError} `run.failed` */
async function requireSuccess({ session, clock }: Parts, runId: number): Promise<DelegatedRun> {
  const run = await findRun(session, runId, clock.now());
  if (run !== null && run.state !== 'failed') return run;
  throw new SyncError(`Run ${runId} of the background service failed: ${run?.reason ?? 'its row is gone'}`, {
    code: 'run.failed',
    hint: `See its log, and bms-sync runs show ${runId}.`,
  });
}

/** A service that stops interrupts the run and requests it again at once. */
function hasEnded(state: RunState, before: RunState | null): boolean {
  return state === 'interrupted' ? before === state : state === 'done' || state === 'incomplete';
}

/** Creates the function that tells how far the other process is: which lists it has read, and what it does at the moment. */
function createFollower({ session, clock, logger, onProgress }: Parts): (run: DelegatedRun) => Promise<void> {
  const ended = new Set<string>();
  let saidLast = '';
  return async ({ id, state, reports }) => {
    for (const { kind, pages, rows } of reports) {
      if (!ended.has(kind)) onProgress?.({ kind, pages, lastPage: pages, rows });
      ended.add(kind);
    }
    const progress = await readProgress(session, id, clock.now());
    if (progress !== null && !ended.has(progress.kind)) onProgress?.(progress);
    const first = state === 'requested' ? worksNow(await openRuns(session)) : '';
    if (first !== '' && first !== saidLast)
      logger.info({ runId: id }, `run ${id} waits: the background service works ${first} first`);
    saidLast = first;
  };
}

/** The runs under way, as a person would name them. */
function worksNow(runs: Awaited<ReturnType<typeof openRuns>>): string {
  const running = runs.filter(({ isAskedFor, isRunning }) => isAskedFor && isRunning);
  return running.map(({ command, kinds }) => `${command} ${kinds.join(' ')}`.trim()).join(' and ');
}

/** Takes over the run of a service that is gone; false if another process has claimed it. */
async function takeOver({ session, clock, owner }: Parts, runId: number): Promise<boolean> {
  const now = clock.now();
  const isDead = await goneOwners(session, now, owner.isDead);
  return session.atomically(async (tx) => {
    await closeDeadRuns(tx, { isDead, now });
    return claimWaitingRun(tx, { id: runId, owner: owner.name, now });
  });
}

function reportOf(run: DelegatedRun, { kinds }: PullRequest, now: Date): Omit<PullReport, 'durationMs'> {
  const detail =
    run.state === 'interrupted'
      ? `Run ${run.id} of the background service was broken off, and is not begun again.`
      : `Nobody waits for it; run ${run.id} goes on without.`;
  const left = { reason: 'interrupted', detail };
  const reports = kinds.map(
    (kind) => run.reports.find((report) => report.kind === kind.name) ?? notSwept(kind, left),
  );
  const startedAt = run.startedAt === null ? now : instantOf(run.startedAt);
  return { runId: run.id, startedAt: startedAt.toISOString(), kinds: reports.map(withZone) };
}

function lifeOf({ clock, owner }: Parts): {
  readonly now: Date;
  readonly isDead: (owner: string) => boolean;
} {
  return { now: clock.now(), isDead: owner.isDead };
}
