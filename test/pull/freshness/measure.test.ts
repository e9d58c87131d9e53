import { expect, test } from 'vitest';
import { MIRRORS } from '../steps.ts';
import { mean, measure } from './measure.ts';

test(
  'for the requests of sweeps every minute, new records show in half the time and updates no later',
  { timeout: 300_000 },
  async () => {
    const plan = { size: 300, seed: 'a', minutes: 5 };
    const alone = await measure(await MIRRORS.SQLite(), { ...plan, sweepMinutes: 1, perMinute: null });
    const perMinute = Math.round(alone.requests / plan.minutes / 2);
    const spent = await measure(await MIRRORS.SQLite(), { ...plan, sweepMinutes: 2, perMinute });
    expect(spent.requests).toBeLessThanOrEqual(1.05 * alone.requests);
    expect(mean(spent.created)).toBeLessThanOrEqual(0.5 * mean(alone.created));
    expect(mean(spent.updated)).toBeLessThanOrEqual(mean(alone.updated));
  },
);
