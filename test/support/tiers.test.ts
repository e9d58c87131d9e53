import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALONE, filesOf, isProof, tierOf } from './tiers.ts';

const ROOT = join(import.meta.dirname, '../..');
const TEST_FILES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'support/tiers.test.ts')
  .map((name) => `test/${name}`);

test('every file that puts doubles in the place of modules has a worker of its own', () => {
  const doubling = TEST_FILES.filter((path) =>
    /\bvi\.(?:doM|m)ock\(/.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(doubling.length).toBeGreaterThan(3);
  expect(doubling.filter((path) => !ALONE.includes(path) && !isProof(path))).toEqual([]);
  expect(ALONE.filter((path) => !TEST_FILES.includes(path))).toEqual([]);
  expect(TEST_FILES.filter(isProof).length).toBeGreaterThan(10);
});

test('what has a bound by the clock runs in acceptance, too', () => {
  const { shared, alone } = filesOf('acceptance');
  const bound = TEST_FILES.filter((path) => /\bbyTheClock\(/.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(bound.length).toBeGreaterThan(3);
  expect([...shared.include, ...alone.include]).toEqual(expect.arrayContaining(bound));
  expect(shared.include.filter((path) => !TEST_FILES.includes(path))).toEqual([]);
});

test('no file is in both parts of a tier, and no proof shares a worker', () => {
  for (const tier of ['all', null] as const) {
    const { shared, alone } = filesOf(tier);
    expect(shared.exclude).toEqual(expect.arrayContaining(alone.include));
  }
  expect(filesOf('proofs').shared.include).toEqual([]);
  expect(filesOf('acceptance').shared.exclude).toEqual(expect.arrayContaining([...ALONE]));
});

test('reporting clients are read in their own tier only', () => {
  const clients = 'test/clients/**/*.test.ts';
  expect(filesOf('clients').shared.include).toEqual([clients]);
  expect(filesOf('tests').shared.exclude).toContain(clients);
  expect(tierOf({ BMS_TEST_TIER: 'clients' })).toBe('clients');
  expect(() => tierOf({ BMS_TEST_TIER: 'client' })).toThrow(/expected one of tests, fast, all, proofs/);
});
