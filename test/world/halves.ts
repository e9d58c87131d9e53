import { expect, test } from 'vitest';
import { AS_DOCUMENTED, REPLAYED, playSeries, seedsFrom, tableOf, type Tallies } from './draws.ts';
import { openMirror } from './mirrors.ts';
import { TRAITS } from './traits.ts';

const HALF = process.env['BMS_TEST_DEEP'] === undefined ? 4_500 : 45_000;
/** So that a run shows how far it has come. */
const A_TEST = HALF / 15;

/** Plays one half of the histories; the two halves are two test files, so that they run side by side. */
export function testHalf(half: 1 | 2): void {
  const from = (half - 1) * HALF + 1;
  const command = `test/world/${half === 1 ? 'first' : 'second'}-half.test.ts`;
  const tallies: Tallies = new Map();
  const firsts = seedsFrom(0, REPLAYED === undefined ? HALF / A_TEST : 1).map((at) => from + at * A_TEST);

  test.each(firsts)('the histories from %s on break no promise', { timeout: 3_600_000 }, async (first) => {
    await using mirror = await openMirror(null);
    await playSeries({ seeds: seedsFrom(first, A_TEST), mirror, command }, tallies);
  });

  if (REPLAYED !== undefined) return;
  test('they show every trait', () => {
    process.stdout.write(tableOf(tallies));
    const values = Object.entries(TRAITS).flatMap(([trait, all]) =>
      Object.entries(all).flatMap(([value, weight]) => (weight > 0 ? [`${trait}: ${value}`] : [])),
    );
    expect(values.filter((value) => !tallies.has(value))).toEqual([]);
    expect(tallies.get(AS_DOCUMENTED)?.draws).toBeGreaterThan(100);
  });
}
