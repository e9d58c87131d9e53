import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../../src/store/kinds/kind-standing.ts';
import {
  decideSettlement,
  type Settlement,
  type SettlementFacts,
} from '../../../src/outbound/send/decide-settlement.ts';
import { instantAt } from '../../pull/steps.ts';
import { tries } from '../../support/tiers.ts';

const RULES = { settleSeconds: 300, patienceSeconds: 86_400 };
const PATIENCE_MS = 86_400_000;

/** A sweep that began at a minute and, where it certified, has its point then or at another minute. */
function reading(
  runId: number,
  state: string,
  { at = runId, point = at }: { at?: number; point?: number } = {},
): Reading {
  const isCertified = state === 'certified' || state === 'certified earlier';
  return {
    runId,
    state: state === 'certified earlier' ? 'complete' : state,
    reason: null,
    certifiedAt: isCertified ? instantAt(point) : null,
    startedAt: instantAt(at),
    rows: 9,
    durationMs: 0,
  };
}

const FIRST = { due: 300_000, run: 1 };
const FINAL = { due: PATIENCE_MS, run: 5 };

const factsOf = (facts: Partial<SettlementFacts>): SettlementFacts => ({
  elapsedMs: 301_000,
  equalIds: [],
  plausibleIds: [],
  isCreationConfirmed: false,
  soleId: null,
  namedId: null,
  readings: [],
  search: FIRST,
  isReading: false,
  repeats: false,
  isDoubtful: false,
  unreadable: [],
  acceptsQuarantine: false,
  unlistedIds: [],
  doubt: null,
  isAskedFor: false,
  isWaitEnded: facts.isAskedFor === true,
  stoodMs: null,
  lostSends: 1,
  hasAlteredKeys: false,
  rules: RULES,
  ...facts,
});
const decide = (facts: Partial<SettlementFacts>): Settlement => decideSettlement(factsOf(facts));

/** Patience has ended, and the list is known since. */
const KNOWN = {
  elapsedMs: PATIENCE_MS + 1_000,
  search: FINAL,
  readings: [reading(5, 'certified')],
};

describe('a record that equals what was sent', () => {
  test('is adopted once a certified sweep, asked for after the rest, has shown it', () => {
    const equalIds = ['7'];
    expect(decide({ equalIds, readings: [reading(1, 'certified')] })).toEqual({ is: 'adopt', id: '7' });
    expect(decide({ equalIds, readings: [] })).toMatchObject({ is: 'wait' });
  });

  test('is not adopted by a certificate of an earlier sweep', () => {
    const readings = [reading(1, 'certified earlier', { at: 10, point: 3 })];
    expect(decide({ equalIds: ['7'], readings })).toMatchObject({ is: 'wait' });
  });

  test('is adopted without a certificate once two complete sweeps have shown it', () => {
    const equalIds = ['7'];
    expect(decide({ equalIds, readings: [reading(1, 'complete')] })).toMatchObject({ is: 'wait' });
    expect(decide({ equalIds, readings: [reading(1, 'complete'), reading(2, 'invalid')] })).toMatchObject({
      is: 'wait',
    });
    const readings = [reading(1, 'complete'), reading(3, 'complete')];
    expect(decide({ equalIds, readings })).toEqual({ is: 'adopt', id: '7' });
  });

  test('is adopted beside others that may be it, and parked beside another equal one', () => {
    const readings = [reading(1, 'certified')];
    expect(decide({ equalIds: ['7'], plausibleIds: ['7', '8'], readings })).toEqual({ is: 'adopt', id: '7' });
    expect(decide({ equalIds: ['7', '8'], readings })).toEqual({
      is: 'park',
      verdict: 'twins',
      ids: ['7', '8'],
    });
  });

  test('is for a person where equal records are legitimate', () => {
    const readings = [reading(1, 'certified')];
    expect(decide({ equalIds: ['7'], repeats: true, readings })).toEqual({
      is: 'park',
      verdict: 'repeats',
      ids: ['7'],
    });
  });
});

describe('a create that is not found', () => {
  test('is sent again once patience has ended and a sweep asked for since has certified', () => {
    expect(decide(KNOWN)).toEqual({ is: 'resend' });
  });

  test.each<[string, Partial<SettlementFacts>]>([
    ['before patience has ended', { elapsedMs: PATIENCE_MS - 1 }],
    [
      'where the last certificate is older than patience',
      { search: FIRST, readings: [reading(1, 'certified')] },
    ],
    ['where the sweep was complete and not certified', { readings: [reading(5, 'complete')] }],
    [
      'where the certificate is of a sweep before',
      { readings: [reading(5, 'certified earlier', { at: 10, point: 3 })] },
    ],
    ['where no sweep was asked for since', { search: null }],
  ])('is not sent again %s', (_what, facts) => {
    expect(decide({ ...KNOWN, ...facts })).toMatchObject({ is: 'wait' });
  });

  test.each<[string, string, Partial<SettlementFacts>, readonly string[]]>([
    ['something is left that may be it', 'look_alike', { plausibleIds: ['8', '9'] }, ['8', '9']],
    ['some line is left, and lines repeat', 'repeats', { plausibleIds: ['8'], repeats: true }, ['8']],
    ['a record could not become a row', 'look_alike', { isDoubtful: true }, []],
    ['it was lost a second time', 'lost_twice', { lostSends: 2 }, []],
    ['the service alters natural keys', 'alters_keys', { hasAlteredKeys: true }, []],
  ])('is parked where %s', (_what, verdict, facts, ids) => {
    expect(decide({ ...KNOWN, ...facts })).toMatchObject({ is: 'park', verdict, ids });
  });

  test('is sent again at once where a person asks for it, but for what is left', () => {
    const known = {
      elapsedMs: 301_000,
      isAskedFor: true,
      readings: [reading(1, 'certified')],
      lostSends: 3,
      hasAlteredKeys: true,
    };
    expect(decide(known)).toEqual({ is: 'resend' });
    expect(decide({ ...known, elapsedMs: 299_000 })).toMatchObject({ is: 'wait' });
    expect(decide({ ...known, plausibleIds: ['8'] })).toMatchObject({ is: 'park', verdict: 'look_alike' });
    expect(decide({ ...known, isDoubtful: true })).toMatchObject({ is: 'park', hasUnreadable: true });
  });

  test('is parked where no sweep certifies until three times patience has passed', () => {
    const search = { ...FINAL, due: 3 * PATIENCE_MS };
    const never = { search, readings: [reading(5, 'complete'), reading(6, 'invalid')] };
    expect(decide({ ...never, elapsedMs: 3 * PATIENCE_MS })).toEqual({
      is: 'park',
      verdict: 'no_certificate',
      ids: [],
    });
    expect(decide({ ...never, elapsedMs: 3 * PATIENCE_MS, equalIds: ['7'] })).toMatchObject({ ids: ['7'] });
    const before = { ...never, search: { ...search, due: 2 * PATIENCE_MS } };
    expect(decide({ ...before, elapsedMs: 3 * PATIENCE_MS - 1 })).toMatchObject({
      is: 'wait',
      needsSweep: false,
    });
  });
});

describe('a wait', () => {
  const wait = (untilMs: number, needsSweep: boolean) => ({ is: 'wait', untilMs, needsSweep });

  test('requests a sweep at each search, a second one where the first proves nothing, and no third', () => {
    expect(decide({ elapsedMs: 1_000, search: null })).toEqual(wait(300_000, false));
    expect(decide({ elapsedMs: 300_000, search: null })).toEqual(wait(360_000, true));
    expect(decide({ elapsedMs: 330_000, isReading: true })).toEqual(wait(390_000, false));
    const readings = [reading(1, 'complete')];
    expect(decide({ elapsedMs: 900_000, readings })).toEqual(wait(960_000, true));
    const both = [...readings, reading(2, 'invalid')];
    expect(decide({ elapsedMs: 960_000, readings: both })).toEqual(wait(3_600_000, false));
    expect(decide({ elapsedMs: 3_600_000, readings: both })).toEqual(wait(3_660_000, true));
  });

  test('requests a run again that failed as a whole, for two minutes', () => {
    expect(decide({ elapsedMs: 360_000 })).toEqual(wait(420_000, true));
    expect(decide({ elapsedMs: 420_000 })).toEqual(wait(3_600_000, false));
  });

  test('asks for none where the look has been answered', () => {
    const readings = [reading(1, 'certified')];
    expect(decide({ elapsedMs: 400_000, readings })).toEqual({
      is: 'wait',
      untilMs: 3_600_000,
      needsSweep: false,
    });
  });
});

test('nothing is sent again without patience, a certificate since, and an empty search', () => {
  const states = fc.constantFrom('certified', 'complete', 'invalid', 'certified earlier');
  const readings = fc
    .array(states, { maxLength: 4 })
    .map((all) => all.map((state, at) => reading(at + 3, state)));
  const ids = fc.uniqueArray(fc.constantFrom('7', '8'), { maxLength: 2 });
  const search = fc.record({ run: fc.constant(3), due: fc.constantFrom(300_000, PATIENCE_MS) });
  const some = fc.record({
    elapsedMs: fc.integer({ min: 0, max: 4 * PATIENCE_MS }),
    equalIds: ids,
    plausibleIds: ids,
    readings,
    search: fc.option(search),
    isReading: fc.boolean(),
    repeats: fc.boolean(),
    isDoubtful: fc.boolean(),
    isAskedFor: fc.boolean(),
    lostSends: fc.integer({ min: 1, max: 3 }),
    hasAlteredKeys: fc.boolean(),
  });
  fc.assert(
    fc.property(some, (facts) => {
      const decision = decide(facts);
      if (decision.is === 'wait') expect(decision.untilMs).toBeGreaterThan(facts.elapsedMs);
      if (decision.is === 'adopt') expect(facts.equalIds).toEqual([decision.id]);
      if (decision.is === 'adopt') expect(facts.repeats).toBe(false);
      if (decision.is !== 'resend') return;
      expect(facts.plausibleIds).toEqual([]);
      expect(!facts.isDoubtful).toBe(true);
      expect(facts.elapsedMs).toBeGreaterThanOrEqual(facts.isAskedFor ? 300_000 : PATIENCE_MS);
      const since = facts.isAskedFor ? 300_000 : PATIENCE_MS;
      expect(facts.search?.due).toBeGreaterThanOrEqual(since);
      expect(facts.readings.some(({ state }) => state === 'certified')).toBe(true);
      if (!facts.isAskedFor) expect(facts.lostSends === 1 && !facts.hasAlteredKeys).toBe(true);
    }),
    { numRuns: tries(2000) },
  );
});
