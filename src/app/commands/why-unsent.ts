import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { isServed } from '../../mirror/runs/worker-store.ts';
import { readFrozen } from '../../outbound/freeze/freeze.ts';
import type { Frozen } from '../../outbound/freeze/freeze.ts';
import { createOwner } from '../../pull/run/owner.ts';
import { openExistingMirror } from '../open-mirror.ts';
import type { Role } from '../roles.ts';

const WRITES_OFF = 'outbound.writes is off (BMS_WRITES): nothing is sent.';
const NOT_SERVED = 'no bms-sync serve sends from this outbox: nothing is sent until one does.';

/** Why nothing is sent at present, as far as the rows show; null where a live process sends. */
export async function whyUnsent(config: Config): Promise<string | null> {
  await using session = await openExistingMirror(config);
  const frozen = await readFrozen(session);
  if (frozen !== null) return frozenWords(frozen);
  const sends: Role = 'outbound';
  if (await isServed(session, sends, { now: systemClock.now(), isDead: createOwner().isDead })) return null;
  return config.outbound.writes === 'off' ? WRITES_OFF : NOT_SERVED;
}

const frozenWords = ({ reason, since }: Frozen): string =>
  `nothing is sent since ${since} UTC: ${reason}. When you have looked: bms-sync outbox resume`;
