import type { Clock } from '../../lib/time/clock.ts';
import { MirrorError } from '../session/errors.ts';
import { BUSY, CONNECTION_LOST, UNREACHABLE, WRITER_BUSY } from './errors.ts';

const BUSY_ATTEMPTS = 5;
const BUSY_DELAY_MS = 10;
/** Longer than any transaction of ours except a migration; the server ends a hanging one within seconds. */
const WRITER_MS = 120_000;
const WRITER_DELAY_MS = 20;
const OUTAGE_MS = 10_000;
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [50, 2_000];

const OUTAGES: readonly string[] = [CONNECTION_LOST, UNREACHABLE, 'mirror.too_many_connections'];

/** True for a transient fault: the same work may succeed when it is repeated. */
export function mayPass(error: unknown): boolean {
  return error instanceof MirrorError && [BUSY, WRITER_BUSY, ...OUTAGES].includes(error.code);
}

/**
 * Retries transient faults: a lost connection for ten seconds, a conflicting transaction five times, another writing bms-sync
 * for two minutes.
 */
export interface DatabaseRetryPolicy {
  /**
   * Resolves when it is time for another attempt.
   *
   * @throws The given error, if it is not transient or has lasted too long.
   */
  waitOrThrow(error: unknown): Promise<void>;
}

export function createRetryPolicy(clock: Clock): DatabaseRetryPolicy {
  let busyAttempts = 0;
  let outages = 0;
  let outageSince: number | null = null;
  let writerSince: number | null = null;

  const waitForWriter = async (error: MirrorError): Promise<void> => {
    writerSince ??= clock.monotonicMs();
    if (clock.monotonicMs() - writerSince > WRITER_MS) throw error;
    await clock.sleep(WRITER_DELAY_MS);
  };
  const waitForLock = async (error: MirrorError): Promise<void> => {
    busyAttempts++;
    if (busyAttempts >= BUSY_ATTEMPTS) throw error;
    await clock.sleep(BUSY_DELAY_MS * 2 ** busyAttempts);
  };
  const waitOutOutage = async (error: MirrorError): Promise<void> => {
    outageSince ??= clock.monotonicMs();
    const delay = Math.min(FIRST_DELAY_MS * 2 ** outages++, LONGEST_DELAY_MS);
    if (clock.monotonicMs() - outageSince + delay > OUTAGE_MS) throw error;
    await clock.sleep(delay);
  };
  return {
    waitOrThrow: async (error) => {
      if (!mayPass(error) || !(error instanceof MirrorError)) throw error;
      if (error.code === BUSY) await waitForLock(error);
      else if (error.code === WRITER_BUSY) await waitForWriter(error);
      else await waitOutOutage(error);
    },
  };
}
