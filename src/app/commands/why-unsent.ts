import type { Config } from '../../config/settings.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import { isServed } from '../../mirror/runs/worker-store.ts';
import { readFrozen } from '../../outbound/freeze/freeze.ts';
import type { Frozen } from '../../outbound/freeze/freeze.ts';
import { createOwner } from '../../pull/run/owner.ts';
import { openExistingMirror } from '../open-mirror.ts';
import type { Role } from '../roles.ts';

const WRITES_OFF = 'outbound.writes is off (BMS_WRITES): nothing is sent.';
const NOT_SERVED = 'no bms-sync serve sends from this outbox: nothing is sent until one does.';

/** A `serve` that was started just before a push has this long to come up. */
const START_MS = 3_000;
const POLL_MS = 200;

interface Patience {
  /** The longest wait for a starting `serve`. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Why nothing is sent at present, as far as this process can know; null where a live process sends. */
export async function whyUnsent(config: Config, { seconds, signal }: Patience): Promise<string | null> {
  await using session = await openExistingMirror(config);
  const { isDead } = createOwner();
  const sends: Role = 'outbound';
  const clock = systemClock;
  const deadline = clock.monotonicMs() + Math.min(START_MS, seconds * 1000);
  for (;;) {
    const frozen = await readFrozen(session);
    if (frozen !== null) return frozenWords(frozen);
    if (await isServed(session, sends, { now: clock.now(), isDead })) return null;
    if (config.outbound.writes === 'off') return WRITES_OFF;
    if (signal.aborted || clock.monotonicMs() >= deadline) return NOT_SERVED;
    await sleepUnlessStopped(POLL_MS, { clock, signal });
  }
}

const frozenWords = ({ reason, since }: Frozen): string =>
  `nothing is sent since ${since} UTC: ${reason}. When you have looked: bms-sync outbox resume`;
