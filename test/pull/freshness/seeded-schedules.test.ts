import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { createFreshnessTask } from '../../../src/pull/freshness/keep-fresh.ts';
import { sized } from '../../support/tiers.ts';
import { playHistory } from '../../world/history.ts';
import { check } from '../../world/invariants.ts';
import { openMirror } from '../../world/mirrors.ts';
import type { Beside } from '../../world/stage.ts';

const SEEDS = sized({ quick: 15, acceptance: 2000, deep: 20_000 });

/** Each process reads pages between sweeps and beside them. */
const readBetween: Beside = (parts, { kinds, pullSettings }) =>
  createFreshnessTask(parts, {
    kinds,
    requestsPerMinute: 20,
    baseUrl: pullSettings.baseUrl,
    rules: pullSettings,
  });

test(
  'pages read between sweeps: nothing false, nothing lost, nothing invented',
  { timeout: 3_600_000 },
  async () => {
    await using mirror = await openMirror(null);
    let readings = 0;
    let between = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const session = await mirror.blank();
      const recording = await playHistory(seed, {
        session,
        tables: mirror.tables,
        personality: { churn: 'much', replica: 'none', cache: 'none', reads: 'answered' },
        beside: readBetween,
      });
      expect({ seed, found: check(recording) }).toEqual({ seed, found: [] });
      const [row] = await session.query(
        sql`select count(*) as count from sightings where sweep is null and run_id = 0`,
      );
      readings += Number(row?.['count']);
      between += recording.changes.filter(
        ({ runId, origin }) => runId === null && origin === 'service',
      ).length;
    }
    expect(readings).toBeGreaterThan(SEEDS);
    expect(between).toBeGreaterThan(SEEDS / 2);
  },
);
