import { expect, test } from 'vitest';
import { run } from '../support/command-line.ts';
import { freshMirror } from '../support/temp-folder.ts';

test.each([
  [
    'some kinds',
    { BMS__SCHEDULES: '{"clients":"0 3 * * *"}' },
    'no schedule pulls projects, providers, .*bookings',
  ],
  ['all kinds', { BMS__SCHEDULES: '{"all":null}' }, 'no schedule is set: serve does not pull'],
])('doctor warns where %s have no schedule, and names what reads them', async (_what, schedules, warning) => {
  const env = {
    BMS_BASE_URL: 'http://127.0.0.1:9',
    BMS_TOKEN: 'none',
    DATABASE_URL: `file:${freshMirror()}`,
  };
  const { stdout } = await run(['doctor'], { ...env, ...schedules });
  expect(stdout).toMatch(new RegExp(`^! +schedules: ${warning}\\n +To read them, set schedules\\.all`, 'm'));
});
