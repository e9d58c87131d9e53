import { renewLease, HEARTBEAT_MS } from '../../mirror/kinds/kind-lease.ts';
import type { KindLease } from '../../mirror/kinds/kind-lease.ts';
import { renewRun } from '../../mirror/runs/run-lease.ts';
import type { OwnRun } from '../../mirror/runs/run-lease.ts';
import { isAway } from '../../mirror/session/errors.ts';
import type { PullParts } from './parts.ts';

type Parts = Pick<PullParts, 'session' | 'clock' | 'logger'>;

/**
 * Renews a lease while a sweep waits for the service, up to a quarter of an hour; returns the function that stops it.
 *
 * A failed renewal is left to the next landing, which is refused if the lease is lost.
 */
export function startHeartbeat(parts: Parts, lease: KindLease): () => void {
  const { session, clock, logger } = parts;
  return beating(
    () => session.atomically((tx) => renewLease(tx, lease, { tick: 0, now: clock.now() })),
    (error) => {
      if (!isAway(error)) logger.warn({ err: error, kind: lease.kind }, 'the lease could not be renewed');
    },
  );
}

/** Renews the lease of a run, between its lists too; returns the function that stops it. */
export function keepRun({ session, clock, logger }: Parts, run: OwnRun): () => void {
  return beating(
    () => renewRun(session, run, clock.now()),
    (error) => {
      if (!isAway(error))
        logger.warn({ err: error, runId: run.runId }, 'the lease of the run could not be renewed');
    },
  );
}

function beating(beat: () => Promise<unknown>, onFault: (error: unknown) => void): () => void {
  const timer = setInterval(() => {
    beat().catch(onFault);
  }, HEARTBEAT_MS);
  return () => {
    clearInterval(timer);
  };
}
