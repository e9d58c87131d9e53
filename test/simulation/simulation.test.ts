import { expect, test } from 'vitest';
import { blankMirror } from './blank-mirror.ts';
import { playSeries } from './play.ts';

const SERIES = process.env['BMS_TEST_DEEP'] === undefined ? 20 : 1000;
const SEEDS = 100;

const blank = blankMirror();

test.each(Array.from({ length: SERIES }, (_none, index) => index * SEEDS + 1))(
  'a hundred schedules from seed %i: nothing false, nothing lost, nothing invented',
  { timeout: 120_000 },
  async (from) => {
    const command = 'test/simulation/simulation.test.ts -t "from seed 1:"';
    const totals = await playSeries({ from, to: from + SEEDS - 1, blank, command });
    if (process.env['BMS_SIM_SEED'] === undefined) expect(totals.deleted).toBeGreaterThan(10);
  },
);
