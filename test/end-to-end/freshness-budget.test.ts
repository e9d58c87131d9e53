import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runProgram, start } from '../support/program.ts';
import { serving, type AtEnd } from './outbound-scene.ts';

const MINUTES = 10;
const PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/** What some processes on one PostgreSQL mirror request from a quiet service within ten minutes, and what they log. */
async function requestsOf(
  processes: number,
  atEnd: AtEnd,
): Promise<{ readonly made: number; readonly log: string }> {
  await using service = await startSandbox({ size: 200 });
  const { url, drop } = await freshDatabase('template_grown');
  atEnd(drop);
  const env = {
    BMS_BASE_URL: service.url,
    BMS_TOKEN: service.token,
    DATABASE_URL: url,
    BMS__LOG__LEVEL: 'debug',
    BMS__SCHEDULES__ALL: 'null',
    BMS__FRESHNESS__REQUESTS_PER_MINUTE: String(PER_MINUTE),
  };
  expect(await runProgram(['pull'], { env })).toMatchObject({ code: 0 });
  const crew = Array.from({ length: processes }, () => start(['serve', '--only', 'pulls'], { env }));
  for (const { child } of crew)
    atEnd(() => {
      child.kill('SIGKILL');
    });
  await Promise.all(crew.map(serving));
  const before = service.requests.length;
  await pause(MINUTES * MINUTE_MS);
  const made = service.requests.length - before;
  for (const { child } of crew) child.kill('SIGTERM');
  const ended = await Promise.all(crew.map((program) => program.ended));
  expect(ended.map(({ code }) => code)).toEqual(crew.map(() => 0));
  return { made, log: ended.map(({ stderr }) => stderr).join('') };
}

test(
  'serve makes the requests of its budget and no more, be it one process or three on one mirror',
  { timeout: (MINUTES + 2) * MINUTE_MS },
  async ({ onTestFinished }) => {
    const crews = await Promise.all([1, 3].map((processes) => requestsOf(processes, onTestFinished)));
    for (const { made, log } of crews) {
      expect(made, log).toBeGreaterThanOrEqual(0.9 * MINUTES * PER_MINUTE);
      expect(made, log).toBeLessThanOrEqual(1.1 * MINUTES * PER_MINUTE);
    }
    console.log(
      `requests in ${MINUTES} minutes: ${crews.map(({ made }) => made).join(' by one process, ')} by three`,
    );
  },
);
