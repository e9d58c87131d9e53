import { expect, test } from 'vitest';
import { createOutageLog } from '../../../src/lib/log/outage-log.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../jobs/support.ts';

const refused = (): Error =>
  new Error('GET /api/clients failed', {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  });

test('an outage is two lines that read on their own: since when and why, and after how long it is back', async () => {
  const [clock, log] = [fakeClock(), memoryLog()];
  const outage = createOutageLog({ clock, logger: log.logger }, { event: 'source', name: 'the service' });
  outage.answered();
  const since = clock.now().toISOString();
  for (let second = 0; second < 31; second += 1) {
    outage.failed(refused(), clock.now().getTime());
    await clock.sleep(1_000);
  }
  outage.answered();
  outage.answered();
  expect(log.lines).toMatchObject([
    {
      ...{ level: 40, event: 'source.unreachable', since, reason: 'connection refused' },
      msg: `the service is unreachable since ${since.slice(11, 19)}: connection refused`,
    },
    {
      ...{ level: 30, event: 'source.back', since, durationMs: 31_000, failures: 31 },
      msg: 'the service is back after 31 s; 31 calls failed',
    },
  ]);
  expect(log.lines).toHaveLength(2);
});

test('a call that waited from long before counts from the last answer on', async () => {
  const [clock, log] = [fakeClock(), memoryLog()];
  const outage = createOutageLog({ clock, logger: log.logger }, { event: 'database', name: 'the database' });
  const begunAt = clock.now().getTime();
  await clock.sleep(60_000);
  outage.answered();
  const since = clock.now().toISOString();
  await clock.sleep(10_000);
  outage.failed(new Error('gone.'), begunAt);
  expect(log.lines).toMatchObject([{ since, reason: 'gone' }]);
});
