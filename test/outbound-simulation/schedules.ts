import { expect, test } from 'vitest';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { CRASH_POINTS } from './crash-points.ts';
import { REPLAYED, playSeries } from './play.ts';
import { tableRow } from './table.ts';

/** A half of them; CI has a quarter of an hour for everything, deep runs have not. */
const PART = process.env['BMS_TEST_DEEP'] === undefined ? 500 : 10_000;

/** Plays one half of the schedules; the two halves are two test files, so that they run side by side. */
export function testHalf(half: 1 | 2): void {
  const blank = blankMirror();
  const from = (half - 1) * PART + 1;
  const file = `test/outbound-simulation/${half === 1 ? 'first' : 'second'}-half.test.ts`;

  test(
    `schedules ${from} to ${from + PART - 1}: none doubled, none lost, no stranger adopted, all settled`,
    {
      timeout: 3_600_000,
    },
    async () => {
      const totals = await playSeries({ from, to: from + PART - 1, blank, command: file });
      const { entries, parked, reached } = totals;
      const policy = `bms-sync, schedules ${from}–${from + totals.schedules - 1}`;
      process.stdout.write(tableRow({ policy, doubled: 0, lost: 0, strangers: 0, parked, entries }));
      const { sends, adopted, resent, rejected } = totals;
      process.stdout.write(
        `${JSON.stringify({ sends, adopted, resent, rejected, crashes: sum(reached) })}\n`,
      );
      if (REPLAYED !== undefined) return;
      expect(CRASH_POINTS.filter((point) => !reached.has(point))).toEqual([]);
      expect(adopted).toBeGreaterThan(100);
      expect(resent).toBeGreaterThan(100);
    },
  );
}

const sum = (counts: ReadonlyMap<unknown, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);
