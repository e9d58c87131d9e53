import { expect, test } from 'vitest';
import { AS_DOCUMENTED, REPLAYED, playSeries, seedsFrom, tableOf } from './draws.ts';
import { openMirror } from './mirrors.ts';
import { TRAITS } from './traits.ts';

const HALF = process.env['BMS_TEST_DEEP'] === undefined ? 4_500 : 45_000;

/** Plays one half of the histories; the two halves are two test files, so that they run side by side. */
export function testHalf(half: 1 | 2): void {
  const from = (half - 1) * HALF + 1;
  const command = `test/world/${half === 1 ? 'first' : 'second'}-half.test.ts`;

  test(`histories ${from} to ${from + HALF - 1} break no promise`, { timeout: 3_600_000 }, async () => {
    await using mirror = await openMirror(null);
    const tallies = await playSeries({ seeds: seedsFrom(from, HALF), mirror, command });
    process.stdout.write(tableOf(tallies));
    if (REPLAYED !== undefined) return;
    const values = Object.entries(TRAITS).flatMap(([trait, all]) =>
      Object.entries(all).flatMap(([value, weight]) => (weight > 0 ? [`${trait}: ${value}`] : [])),
    );
    expect(values.filter((value) => !tallies.has(value))).toEqual([]);
    expect(tallies.get(AS_DOCUMENTED)?.draws).toBeGreaterThan(100);
  });
}
