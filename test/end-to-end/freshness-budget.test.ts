import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { openPostgresSession } from '../../src/mirror/postgres/session.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runProgram, start } from '../support/program.ts';
import { sized } from '../support/tiers.ts';
import { serving } from './outbound-scene.ts';

const MINUTES = sized({ quick: 0, acceptance: 10, deep: 10 });
const PER_MINUTE = 10;
const MINUTE_MS = 60_000;

test.runIf(MINUTES > 0)(
  'serve makes the requests of its budget and no more: one process, then three on one PostgreSQL mirror',
  { timeout: (2 * MINUTES + 2) * MINUTE_MS },
  async ({ onTestFinished }) => {
    await using service = await startSandbox({ size: 200 });
    const { url, drop } = await freshDatabase('template_all_kinds');
    onTestFinished(drop);
    const env = {
      ...{ BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url },
      ...{ BMS__SCHEDULES__ALL: 'null', BMS__FRESHNESS__REQUESTS_PER_MINUTE: String(PER_MINUTE) },
    };
    expect(await runProgram(['pull'], { env })).toMatchObject({ code: 0 });
    for (const processes of [1, 3]) {
      const crew = Array.from({ length: processes }, () => start(['serve', '--only', 'pulls'], { env }));
      for (const { child } of crew)
        onTestFinished(() => {
          child.kill('SIGKILL');
        });
      await Promise.all(crew.map(serving));
      const before = service.requests.length;
      await pause(MINUTES * MINUTE_MS);
      const made = service.requests.length - before;
      for (const { child } of crew) child.kill('SIGTERM');
      for (const { code } of await Promise.all(crew.map(({ ended }) => ended))) expect(code).toBe(0);
      console.log(`${processes} processes made ${made} requests in ${MINUTES} minutes`);
      expect(made).toBeGreaterThanOrEqual(0.9 * MINUTES * PER_MINUTE);
      expect(made).toBeLessThanOrEqual(1.1 * MINUTES * PER_MINUTE);
    }
    await using session = await openPostgresSession(url);
    expect(await session.query(sql`select seq from changes`)).toEqual([]);
  },
);
