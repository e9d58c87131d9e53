import { describe, expect, test } from 'vitest';
import { isFresh } from '../../../src/outbound/create/preimage.ts';
import { NOON, instantAt } from '../../pull/steps.ts';

/** Instants are minutes after noon; it is noon plus 60. */
function fresh(known: { certified?: number; swept?: number; verdict?: string; created?: number }): boolean {
  const text = (minute: number | undefined) => (minute === undefined ? null : instantAt(minute));
  return isFresh(
    {
      ...{ tick: 0, baselineAt: null, controlFailures: 0 },
      certifiedAt: text(known.certified),
      lastSweepAt: text(known.swept),
    },
    { verdict: known.verdict ?? null, createdAt: instantAt(known.created ?? 58) } as Parameters<
      typeof isFresh
    >[1],
    { now: new Date(NOON + 60 * 60_000), maxAgeSeconds: 900 },
  );
}

describe('what the mirror knows before a create', () => {
  test.each([
    ['a certificate of late', { certified: 50, swept: 51 }, true],
    ['a certificate of a quarter of an hour ago', { certified: 45, swept: 46 }, true],
    ['an older one', { certified: 44, swept: 44 }, false],
    ['nothing', {}, false],
    ['whole sweeps of a list that never certifies', { swept: 50 }, true],
    ['only an old whole sweep of such a list', { swept: 44 }, false],
    ['a whole sweep where certificates are the rule', { certified: 10, swept: 59 }, false],
    ['the same after one was asked for', { certified: 10, swept: 59, verdict: 'awaits_sweep' }, true],
    ['one that ended before the entry came', { certified: 10, swept: 57, verdict: 'awaits_sweep' }, false],
  ])('%s: %o is enough: %s', (_what, known, expected) => {
    expect(fresh(known)).toBe(expected);
  });
});
