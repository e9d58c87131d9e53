import { expect, test } from 'vitest';
import { check } from '../../simulation/checkers/check.ts';
import { blankMirror } from '../../simulation/blank-mirror.ts';
import { sized } from '../../support/tiers.ts';
import { playSeed } from './seeded-schedules.ts';

const SEEDS = sized({ quick: 15, acceptance: 2000, deep: 20_000 });
const TIMEOUT_MS = 3_600_000;

const blank = blankMirror();

test(
  'pages read between sweeps: nothing false, nothing lost, nothing invented',
  async () => {
    const totals = { readings: 0, between: 0, deleted: 0, violations: [] as string[] };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { recording, readings } = await playSeed(seed, { session: await blank() });
      totals.readings += readings;
      totals.between += recording.changes.filter(({ runId }) => runId === null).length;
      totals.deleted += recording.changes.filter(({ change }) => change === 'deleted').length;
      for (const { checker, kind, detail } of check(recording))
        totals.violations.push(`seed ${seed}: ${checker} (${kind}): ${detail}`);
    }
    expect(totals.violations).toEqual([]);
    expect(totals.readings).toBeGreaterThan(5 * SEEDS);
    expect(totals.between).toBeGreaterThan(SEEDS);
    expect(totals.deleted).toBeGreaterThan(SEEDS / 4);
  },
  TIMEOUT_MS,
);
