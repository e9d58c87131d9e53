import type { Kind } from '../catalog/kind.ts';
import { isDateReliable } from './reliable-date.ts';
import { applyRetention, type Retention } from './retention.ts';
import { finishRun, startRun, type RunState } from '../store/runs/run-store.ts';
import { MirrorError, isDatabaseUnavailable } from '../db/session/errors.ts';
import { createWorkLog } from '../db/mirror-context.ts';
import type { PullParts } from './parts.ts';
import { renewLease, type KindLease } from '../store/kinds/kind-lease.ts';
import { HEARTBEAT_MS } from '../store/kinds/liveness.ts';
import { renewRun } from '../store/runs/run-requests.ts';
import { createReportIndexes } from '../store/schema/change-kind-tables.ts';

export interface RunFacts {
  readonly runId: number;
  readonly startedAt: string;
  readonly durationMs: number;
}

/** Records work as a run: inserts a row before the work, and closes it however the work ends. */
export async function recordRun<T>(
  parts: PullParts,
  request: {
    /** A requested run that this process has claimed; absent if the work inserts its own run. */
    readonly runId?: number;
    readonly command: string;
    readonly kinds: readonly Kind[];
    /** The request besides the kinds, as text. */
    readonly request?: string;
    readonly retention: Retention;
  },
  work: (runId: number) => Promise<{ readonly state: RunState; readonly result: T }>,
): Promise<RunFacts & { readonly result: T }> {
  const { session, clock, owner, logger } = parts;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const kinds = request.kinds.map((kind) => kind.name);
  const runId = request.runId ?? (await startRun(session, { ...request, kinds, owner, now: startedAt }));
  const run = { runId, owner };
  // Between its lists too.
  const stopHeartbeat = startRenewal(parts, `run ${runId}`, () =>
    session.atomically((tx) => renewRun(tx, run)),
  );
  const end = async (state: RunState, reason: string | null): Promise<void> => {
    const now = clock.now();
    await finishRun(session, run, { state, reason, now });
    if (await isDateReliable(session, clock)) await applyRetention(session, request.retention, now);
    await session.checkpoint(); // A first pull leaves most rows in the log, which no back-up by files takes.
  };
  try {
    const { state, result } = await work(runId);
    await end(state, null);
    const durationMs = Math.round(clock.monotonicMs() - startMs);
    return { runId, startedAt: startedAt.toISOString(), durationMs, result };
  } catch (error) {
    await end('failed', error instanceof Error ? error.message : String(error)).catch((second: unknown) => {
      if (!isDatabaseUnavailable(second)) logger.error({ err: second, runId }, 'run could not be closed'); // The first error is the one to report.
    });
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** Counts the requests and retries of a kind from now on, and the time. */
export function countTraffic({ source, clock }: Pick<PullParts, 'source' | 'clock'>, kind: string) {
  const countsNow = () => source.countsOfKinds[kind] ?? { requests: 0, retries: 0 };
  const [before, startedMs] = [{ ...countsNow() }, clock.monotonicMs()];
  return () => ({
    requests: countsNow().requests - before.requests,
    retries: countsNow().retries - before.retries,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
  });
}

/** Creates the indexes of these kinds that reports use, and the search; what fails is tried again after the next run. */
export async function prepareReports({ session, signal, logger }: PullParts, kinds: readonly Kind[]) {
  try {
    await createReportIndexes(session, kinds, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const message = 'indexes for reports could not be created; bms-sync tries again after the next run';
    logger.warn({ err: error }, message);
  }
}

/**
 * Renews a lease while a sweep waits for the service, up to a quarter of an hour; returns the function that stops it.
 *
 * A failed renewal is left to the next landing, which is refused if the lease is lost.
 */
export function startHeartbeat(parts: PullParts, lease: KindLease): () => void {
  const { session } = parts;
  return startRenewal(parts, lease.kind, () => session.atomically((tx) => renewLease(tx, lease, 0)));
}

function startRenewal(parts: PullParts, leased: string, renew: () => Promise<unknown>): () => void {
  const log = createWorkLog(parts, `renewing the lease of ${leased}`);
  const timer = setInterval(() => void renew().then(() => log.succeeded(), log.failed), HEARTBEAT_MS);
  return () => clearInterval(timer);
}
