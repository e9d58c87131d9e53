import { renewLease } from '../mirror/kind-lease.ts';
import type { KindLease } from '../mirror/kind-lease.ts';
import type { PullParts } from './parts.ts';

const BEAT_MS = 20_000; // A third of the lease: two beats may fail.

/**
 * Renews a lease while a sweep waits for the service, which may ask for a quarter of an hour; returns what stops it.
 *
 * A beat that fails is left to the next landing, which is refused where the lease is lost.
 */
export function startHeartbeat({ session, clock, logger }: PullParts, lease: KindLease): () => void {
  const beat = (): void => {
    session
      .atomically((tx) => renewLease(tx, lease, { tick: 0, now: clock.now() }))
      .catch((error: unknown) => {
        logger.warn({ err: error, kind: lease.kind }, 'the lease could not be renewed');
      });
  };
  const timer = setInterval(beat, BEAT_MS);
  return () => {
    clearInterval(timer);
  };
}
