import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { seedOf } from './seed.ts';

test('properties draw from the seed of the run', () => {
  expect(fc.readConfigureGlobal()).toMatchObject({ seed: inject('seed') });
  const drawn = fc.sample(fc.integer(), 20);
  expect(fc.sample(fc.integer(), { numRuns: 20, seed: inject('seed') })).toEqual(drawn);
});

test('the seed is the same in every quick run, new in every long one, and the one that is set in either', () => {
  expect(seedOf({ BMS_TEST_TIER: 'tests' })).toBe(seedOf({}));
  expect(seedOf({ BMS_TEST_TIER: 'acceptance' })).not.toBe(seedOf({ BMS_TEST_TIER: 'acceptance' }));
  for (const BMS_TEST_TIER of ['tests', 'proofs', 'acceptance'])
    expect(seedOf({ BMS_TEST_TIER, BMS_TEST_SEED: '7' })).toBe(7);
  expect(() => seedOf({ BMS_TEST_SEED: 'x' })).toThrow('BMS_TEST_SEED is x');
});
