import { expect, test } from 'vitest';
import { blankMirror } from './blank-mirror.ts';
import { PERSONALITIES } from './personalities.ts';
import type { PersonalityName } from './personalities.ts';
import { playSeries } from './play.ts';

const SEEDS = process.env['BMS_TEST_DEEP'] === undefined ? 25 : 1000;

const blank = blankMirror();
const lying = (Object.keys(PERSONALITIES) as PersonalityName[])
  .filter((name) => name !== 'honest')
  .map((name) => [PERSONALITIES[name].hazard, name] as const);

test.each(lying)(
  '%s a service of the kind %s: no false deletion, no row missed once it behaves',
  { timeout: 120_000 },
  async (_hazard, name) => {
    const command = `test/simulation/personalities.test.ts -t "kind ${name}:"`;
    const fixed = { personality: name };
    const totals = await playSeries({ from: 1, to: SEEDS, fixed, blank, command });
    expect(totals.sweeps).toBeGreaterThan(0);
  },
);
