import type { Kind } from '../../catalog/kind.ts';
import { applyRetention } from '../../mirror/runs/retention.ts';
import type { Retention } from '../../mirror/runs/retention.ts';
import { finishRun, startRun } from '../../mirror/runs/run-store.ts';
import type { RunState } from '../../mirror/runs/run-store.ts';
import { isAway } from '../../mirror/session/errors.ts';
import { keepRun } from './heartbeat.ts';
import type { PullParts } from './parts.ts';

interface RunRequest {
  /** A requested run that this process has claimed; absent if the work inserts its own run. */
  readonly runId?: number;
  readonly command: string;
  readonly kinds: readonly Kind[];
  /** The request besides the kinds, as text; the same text resumes an interrupted run. */
  readonly request?: string;
  /** The cursor of the interrupted run: it counts until this run has passed it. */
  readonly cursor?: string | null;
  readonly retention: Retention;
}

export interface RunFacts {
  readonly runId: number;
  readonly startedAt: string;
  readonly durationMs: number;
}

interface Done<T> {
  readonly state: RunState;
  readonly result: T;
}

/** Records work as a run: inserts a row before the work, and closes it however the work ends. */
export async function recordRun<T>(
  parts: PullParts,
  { kinds, ...request }: RunRequest,
  work: (runId: number) => Promise<Done<T>>,
): Promise<RunFacts & { readonly result: T }> {
  const { session, clock, owner, logger } = parts;
  const [startedAt, startMs] = [clock.now(), clock.monotonicMs()];
  const begun = { owner: owner.name, now: startedAt, isDead: owner.isDead };
  const names = kinds.map(({ name }) => name);
  const runId = request.runId ?? (await startRun(session, { ...request, kinds: names, ...begun }));
  const run = { runId, owner: owner.name };
  const stopHeartbeat = keepRun(parts, run);
  const end = async (state: RunState, reason: string | null): Promise<void> => {
    const now = clock.now();
    await finishRun(session, run, { state, reason, now });
    await applyRetention(session, request.retention, now);
  };
  try {
    const { state, result } = await work(runId);
    await end(state, null);
    const durationMs = Math.round(clock.monotonicMs() - startMs);
    return { runId, startedAt: startedAt.toISOString(), durationMs, result };
  } catch (error) {
    await end('failed', error instanceof Error ? error.message : String(error)).catch((second: unknown) => {
      if (!isAway(second)) logger.error({ err: second, runId }, 'run could not be closed'); // The first error is the one to report.
    });
    throw error;
  } finally {
    stopHeartbeat();
  }
}
