import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SearchResult } from '../../../src/diff/match.ts';
import { decideSettlement } from '../../../src/outbound/send/decide-settlement.ts';
import type {
  AskedSweeps,
  Settlement,
  SettlementFacts,
} from '../../../src/outbound/send/decide-settlement.ts';

const RULES = {
  settleSeconds: 300,
  patienceSeconds: 86_400,
  lookScheduleSeconds: [300, 1800, 7200, 21_600, 86_400],
  preimageMaxAgeSeconds: 900,
};
const SENT = Date.parse('2026-03-01T12:00:00Z');
const ABSENT: SearchResult = { is: 'absent' };

interface At extends Partial<Omit<SettlementFacts, 'now' | 'knownAt' | 'sweptAt' | 'givenUpAt'>> {
  /** Seconds since the send was given up. */
  readonly now: number;
  readonly known?: number | null;
  readonly swept?: number | null;
}

const instant = (seconds: number | null | undefined): Date | null =>
  seconds === null || seconds === undefined ? null : new Date(SENT + seconds * 1000);

function decide({ now, known, swept = known, ...facts }: At): Settlement {
  return decideSettlement({
    ...{ look: ABSENT, repeats: false, isDoubtful: false, isAskedFor: false, asked: null, rules: RULES },
    ...{ sweepsSince: 0, isMarked: false },
    ...facts,
    ...{ givenUpAt: new Date(SENT), now: new Date(SENT + now * 1000) },
    ...{ knownAt: instant(known), sweptAt: instant(swept) },
  });
}

const FOUND: SearchResult = { is: 'found', id: '7' };

describe('a create whose outcome is unknown', () => {
  test('is adopted once the list is known after the rest', () => {
    expect(decide({ now: 301, known: 300, look: FOUND })).toEqual({ is: 'adopt', id: '7' });
    expect(decide({ now: 301, known: 299, look: FOUND })).toMatchObject({ is: 'wait' });
    expect(decide({ now: 301, known: null, look: FOUND })).toMatchObject({ is: 'wait' });
  });

  test('is adopted without a certificate once two complete sweeps have shown it, or one its mark', () => {
    for (const known of [null, 299]) {
      const at = { now: 2000, known, look: FOUND };
      expect(decide({ ...at, sweepsSince: 1 })).toMatchObject({ is: 'wait' });
      expect(decide({ ...at, sweepsSince: 2 })).toEqual({ is: 'adopt', id: '7' });
      expect(decide({ ...at, sweepsSince: 0, isMarked: true })).toMatchObject({ is: 'wait' });
      expect(decide({ ...at, sweepsSince: 1, isMarked: true })).toEqual({ is: 'adopt', id: '7' });
      expect(decide({ ...at, sweepsSince: 9, repeats: true })).toMatchObject({ is: 'wait' });
      for (const look of [
        { is: 'twins', ids: ['7', '8'] },
        { is: 'look-alike', ids: ['7'] },
      ] as const)
        expect(decide({ ...at, sweepsSince: 9, look })).toMatchObject({ is: 'wait' });
    }
  });

  test('that no sweep shows is never sent again without a certificate, however many there are', () => {
    expect(decide({ now: 100_000, known: null, swept: 99_999, sweepsSince: 99 })).toMatchObject({
      is: 'wait',
    });
  });

  test('is parked with what was found where patience is over and nothing was certain', () => {
    const asked: AskedSweeps = { due: 86_400_000, times: 2, since: 172_800_000 };
    const over = { now: 172_900, known: null, asked };
    expect(decide({ ...over, look: FOUND })).toEqual({ is: 'park', verdict: 'no_certificate', ids: ['7'] });
    expect(decide({ ...over, look: FOUND, repeats: true })).toMatchObject({ verdict: 'repeats', ids: ['7'] });
    const twins = { is: 'twins', ids: ['7', '8'] } as const;
    expect(decide({ ...over, look: twins })).toEqual({ is: 'park', verdict: 'twins', ids: ['7', '8'] });
  });

  test('is parked where equal records are legitimate, or there is a doubt', () => {
    const found = { now: 301, known: 300 };
    expect(decide({ ...found, look: FOUND, repeats: true })).toMatchObject({
      is: 'park',
      verdict: 'repeats',
    });
    expect(decide({ ...found, look: { is: 'twins', ids: ['7', '8'] } })).toMatchObject({ verdict: 'twins' });
    const alike = decide({ ...found, look: { is: 'look-alike', ids: ['7'] } });
    expect(alike).toEqual({ is: 'park', verdict: 'look_alike', ids: ['7'] });
  });

  test('is sent again once the list is known when patience has ended', () => {
    expect(decide({ now: 86_400, known: 86_399 })).toMatchObject({ is: 'wait' });
    expect(decide({ now: 86_401, known: 86_400 })).toEqual({ is: 'resend' });
  });

  test('is sent again at once where a person asks, but not before the rest', () => {
    expect(decide({ now: 299, known: 299, isAskedFor: true })).toMatchObject({ is: 'wait', asked: null });
    expect(decide({ now: 400, known: 350, isAskedFor: true })).toEqual({ is: 'resend' });
  });

  test('is looked for once more where the list was known exactly too long ago to send by it', () => {
    const stale = decide({ now: 70_000, known: 400, isAskedFor: true });
    expect(stale).toMatchObject({ is: 'wait', asked: { due: 21_600_000, times: 1, since: 70_000_000 } });
    expect(decide({ now: 90_000, known: 87_000 })).toMatchObject({ is: 'wait', asked: { times: 1 } });
  });

  test('of a list that takes long to read is sent again by the sweep that was asked for', () => {
    const asked: AskedSweeps = { due: 86_400_000, times: 1, since: 90_000_000 };
    expect(decide({ now: 95_000, known: 90_001, swept: 94_999, asked })).toEqual({ is: 'resend' });
    expect(decide({ now: 95_000, known: 89_999, swept: 94_999, asked })).toMatchObject({ is: 'wait' });
    expect(decide({ now: 300_000, known: 90_001, swept: 94_999, asked })).not.toEqual({ is: 'resend' });
  });

  test('is parked, not sent, where a record that nobody can read came meanwhile', () => {
    const parked = { is: 'park', verdict: 'look_alike', ids: [], hasUnreadable: true };
    expect(decide({ now: 86_401, known: 86_400, isDoubtful: true })).toEqual(parked);
  });

  test('asks for two sweeps a look, then waits for the next look', () => {
    const first = decide({ now: 310, known: null });
    expect(first).toMatchObject({ is: 'wait', asked: { due: 300_000, times: 1 } });
    const second = decide({ now: 320, known: null, asked: { due: 300_000, times: 1, since: 310_000 } });
    expect(second).toMatchObject({ asked: { due: 300_000, times: 2, since: 310_000 } });
    const third = decide({ now: 330, known: null, asked: { due: 300_000, times: 2, since: 310_000 } });
    expect(third).toEqual({ is: 'wait', until: new Date(SENT + 1_800_000), asked: null });
    const next = decide({ now: 1801, known: null, asked: { due: 300_000, times: 2, since: 310_000 } });
    expect(next).toMatchObject({ asked: { due: 1_800_000, times: 1 } });
  });

  test('is parked where two patiences brought no certificate, but never before sweeps were asked for', () => {
    expect(decide({ now: 172_800, known: null })).toMatchObject({ is: 'wait', asked: { times: 1 } });
    const asked: AskedSweeps = { due: 86_400_000, times: 2, since: 172_800_000 };
    expect(decide({ now: 172_900, known: null, asked })).toMatchObject({
      is: 'park',
      verdict: 'no_certificate',
    });
    expect(decide({ now: 172_700, known: null, asked })).toMatchObject({ is: 'wait', asked: null });
  });
});

describe('whatever the facts are', () => {
  const seconds = fc.integer({ min: -100_000, max: 400_000 });
  const looks = fc.constantFrom<SearchResult>(
    ABSENT,
    FOUND,
    { is: 'twins', ids: ['7', '8'] },
    { is: 'look-alike', ids: ['9'] },
  );
  const asked = fc.option(
    fc.record({
      due: fc.constantFrom(300_000, 1_800_000, 86_400_000),
      times: fc.integer({ min: 1, max: 2 }),
      since: fc.nat({ max: 400_000_000 }),
    }),
  );
  const facts = fc
    .record({
      ...{ now: fc.nat({ max: 400_000 }), known: fc.option(seconds), swept: fc.option(seconds) },
      ...{ look: looks, asked, repeats: fc.boolean(), isDoubtful: fc.boolean(), isAskedFor: fc.boolean() },
      ...{ sweepsSince: fc.nat({ max: 3 }), isMarked: fc.boolean() },
    })
    .map((given): At & { known: number | null } => ({
      ...given,
      known: given.known === null ? null : Math.min(given.known, given.now),
      swept: given.swept === null ? null : Math.min(given.swept, given.now),
    }));
  const always = (hold: (at: At & { known: number | null }, is: Settlement) => void): void => {
    fc.assert(
      fc.property(facts, (at) => {
        hold(at, decide(at));
      }),
      { numRuns: 3000 },
    );
  };

  test('nothing is sent again before the list is known after the rest, or adopted before that or complete sweeps', () => {
    always(({ known, sweepsSince = 0, isMarked }, { is }) => {
      if (is === 'resend') expect(known).toBeGreaterThanOrEqual(300);
      if (is === 'adopt' && sweepsSince < (isMarked ? 1 : 2)) expect(known).toBeGreaterThanOrEqual(300);
    });
  });

  test('nothing is sent again that was found, or that may be among what nobody can read', () => {
    always(({ look, isDoubtful }, { is }) => {
      if (is !== 'resend') return;
      expect(look).toEqual(ABSENT);
      expect(isDoubtful).toBe(false);
    });
  });

  test('nothing is sent again before the list is known after patience, unless a person asks', () => {
    always(({ known, isAskedFor }, { is }) => {
      if (is === 'resend' && !isAskedFor) expect(known).toBeGreaterThanOrEqual(86_400);
    });
  });

  test('nothing is sent again by what was known long ago', () => {
    always(({ known, swept, now }, { is }) => {
      if (is === 'resend')
        expect(now - Math.max(known ?? -Infinity, swept ?? -Infinity)).toBeLessThanOrEqual(900);
    });
  });

  test('where equal records are legitimate, none is adopted', () => {
    always(({ repeats }, { is }) => {
      if (repeats) expect(is).not.toBe('adopt');
    });
  });

  test('a wait ends in the future, and no look has more than two sweeps', () => {
    always(({ now }, decision) => {
      if (decision.is !== 'wait') return;
      expect(decision.until.getTime()).toBeGreaterThan(SENT + now * 1000);
      expect(decision.asked?.times ?? 0).toBeLessThanOrEqual(2);
    });
  });

  test('it comes to an end: sweeps that never certify park it within some looks', () => {
    let [now, times, kept]: [number, number, AskedSweeps | null] = [0, 0, null];
    for (;;) {
      const decision = decide({ now, known: null, asked: kept });
      if (decision.is === 'park') break;
      if (decision.is !== 'wait') throw new Error(decision.is);
      kept = decision.asked ?? kept;
      now = decision.asked ? now + 60 : (decision.until.getTime() - SENT) / 1000; // A sweep wakes it.
      expect(++times).toBeLessThan(30);
    }
    expect(now).toBeGreaterThanOrEqual(172_800);
  });
});
