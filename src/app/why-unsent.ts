import type { Config } from '../config/settings.ts';
import { sleepUnlessStopped, systemClock } from '../lib/clock.ts';
import { isServed } from '../mirror/runs/worker-store.ts';
import { createOwner } from '../pull/run/owner.ts';
import { openExistingMirror } from './open-mirror.ts';
import type { Role } from './roles.ts';

export const WRITES_OFF = 'outbound.writes is off (BMS_WRITES): nothing is sent.';
const NOT_SERVED = 'no bms-sync serve works this outbox: nothing is sent until one does.';

/** A `serve` that was started just before a push has this long to come up. */
const START_MS = 3_000;
const POLL_MS = 200;

interface Patience {
  /** At most so long is a starting `serve` waited for. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Why nothing is sent at present, as far as this process can know; null where a live process sends. */
export async function whyUnsent(config: Config, { seconds, signal }: Patience): Promise<string | null> {
  if (config.outbound.writes === 'off') return WRITES_OFF;
  await using session = await openExistingMirror(config);
  const { isDead } = createOwner();
  const sends: Role = 'outbound';
  const clock = systemClock;
  const deadline = clock.monotonicMs() + Math.min(START_MS, seconds * 1000);
  while (!(await isServed(session, sends, { now: clock.now(), isDead }))) {
    if (signal.aborted || clock.monotonicMs() >= deadline) return NOT_SERVED;
    await sleepUnlessStopped(POLL_MS, { clock, signal });
  }
  return null;
}
