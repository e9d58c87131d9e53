import { afterAll, expect, test } from 'vitest';
import { copiedMirror } from './mirror-file.ts';
import { MUTATIONS } from './mutations/all.ts';
import { noTotals, playSeries, summary } from './play.ts';
import { fillMirror } from './scenario.ts';

const RESPONSES = 2000;
/** No series needs so many scenarios: each has seeds of its own. */
const SEEDS = 1000;

/** Declares the tests of these series. */
export function testSeries(first: number, last: number): void {
  const open = copiedMirror(fillMirror);
  const totals = noTotals();

  test.each(Array.from({ length: last - first + 1 }, (_none, index) => first + index))(
    'series %i: two thousand malformed answers crash, hang, corrupt, delete and leak nothing, and all of it heals',
    async (series) => {
      await playSeries({ open, from: series * SEEDS, responses: RESPONSES }, totals);
    },
  );

  test.skipIf(process.env['BMS_MALFORMED_SEED'] !== undefined)('every class of mutation was fired', () => {
    expect([...MUTATIONS.keys()].filter((name) => !totals.classes.has(name))).toEqual([]);
  });

  afterAll(() => {
    process.stdout.write(summary(totals));
  });
}
