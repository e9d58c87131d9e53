import { parseInstant, formatInstant, type Clock } from '../lib/time/clock.ts';
import { DAY_MS } from '../lib/time/zone-offset.ts';
import type { Session } from '../db/session/session.ts';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';

/** How far a clock may drift in that time, or be set. */
const DRIFT_MS = 300_000;

/**
 * Whether the date is to be believed: for a day, by the clock that no one sets, it has gone on as that clock has. A clock that was
 * 400 days ahead for a minute would otherwise have history removed that is to be kept for a year.
 */
export async function isDateReliable(session: Session, clock: Clock): Promise<boolean> {
  const { boot, upMs } = clock.machine?.() ?? { boot: 'process', upMs: clock.monotonicMs() };
  const key = `date.${boot}` as const;
  const now = clock.now();
  return session.atomically(async (tx) => {
    const [at, up] = ((await readMeta(tx, key)) ?? '').split('|');
    const dateMs = at === '' || at === undefined ? NaN : now.getTime() - parseInstant(at).getTime();
    const runMs = upMs - Number(up);
    const isSteady = Math.abs(dateMs - runMs) <= DRIFT_MS;
    if (!isSteady) await writeMeta(tx, key, `${formatInstant(now)}|${Math.round(upMs)}`);
    return isSteady && runMs >= DAY_MS;
  });
}
