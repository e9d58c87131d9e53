import { expect, test } from 'vitest';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { range } from './play.ts';
import { playPlainly } from './plain-attempts.ts';
import { scheduleOf } from './schedule.ts';
import { tableRow } from './table.ts';

const SEEDS = process.env['BMS_TEST_DEEP'] === undefined ? 2_000 : 20_000;

const blank = blankMirror();

test(
  'the same seeds under plain attempts: 3 double records and lose some',
  { timeout: 600_000 },
  async () => {
    const totals = { policy: 'plain attempts: 3', entries: 0, doubled: 0, lost: 0, strangers: 0, parked: 0 };
    const session = await blank(); // Only looked at: this policy keeps nothing.
    for (const seed of range(1, SEEDS)) {
      const { entries, doubled, lost, strangers } = await playPlainly(scheduleOf(seed), session);
      totals.entries += entries;
      totals.doubled += doubled;
      totals.lost += lost;
      totals.strangers += strangers;
    }
    process.stdout.write(tableRow(totals));
    expect(totals.doubled).toBeGreaterThan(100);
    expect(totals.lost).toBeGreaterThan(0);
  },
);
