import { expect, test } from 'vitest';
import { createOutageLog, createProbingLog } from '../../../src/lib/log/outage-log.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../runs/engine/support.ts';

const refused = (): Error =>
  new Error('GET /api/clients failed', {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  });

test('an outage is two lines that read on their own: since when and why, and after how long it is back', async () => {
  const clock = fakeClock();
  const log = memoryLog();
  const outage = createOutageLog({ clock, logger: log.logger }, { event: 'source', name: 'the service' });
  outage.answered();
  const since = clock.now().toISOString();
  for (let second = 0; second < 31; second += 1) {
    outage.failed(refused());
    await clock.sleep(1_000);
  }
  outage.answered();
  outage.answered();
  expect(log.lines).toMatchObject([
    {
      level: 40,
      event: 'source.unreachable',
      since,
      reason: 'connection refused',
      msg: 'the service is unreachable: connection refused',
    },
    {
      level: 30,
      event: 'source.back',
      since,
      durationMs: 31_000,
      msg: 'the service is back after 31 s',
    },
  ]);
  expect(log.lines).toHaveLength(2);
});

/** A log of the queue's faults, which answers a number of times by turns; resolves once it was asked so often. */
function probed(answers: readonly boolean[]) {
  const clock = fakeClock();
  const log = memoryLog();
  let asked = 0;
  let end = (): void => undefined;
  const allAsked = new Promise<void>((resolve) => {
    end = resolve;
  });
  const probe = (): Promise<void> => {
    const isThere = answers[asked++];
    if (asked === answers.length) end();
    return isThere === true ? Promise.resolve() : Promise.reject(new Error('away'));
  };
  const queue = { event: 'queue', name: 'the queue', answerMs: 2_000, everyMs: 5_000 } as const;
  const { faults, stop } = createProbingLog(log.logger, clock, { ...queue, probe });
  return { log, faults, stop: () => allAsked.then(stop) };
}

test('a fault of something that answers when it is asked is a fault, and no outage', async () => {
  const { log, faults, stop } = probed([true]);
  faults('notifying outbox', refused());
  await stop();
  expect(log.lines).toMatchObject([{ level: 40, work: 'notifying outbox', msg: 'notifying outbox failed' }]);
});

test('something that does not answer is asked until it does, and told as away once, whatever faults come meanwhile', async () => {
  const { log, faults, stop } = probed([false, false, true]);
  for (let fault = 0; fault < 3; fault += 1) faults('notifying outbox', refused());
  await stop();
  expect(log.lines).toMatchObject([
    { level: 40, event: 'queue.unreachable', reason: 'connection refused' },
    { level: 30, event: 'queue.back' },
  ]);
});

test('a database that answers reads only is still away', () => {
  const clock = fakeClock();
  const log = memoryLog();
  const outage = createOutageLog({ clock, logger: log.logger }, { event: 'database', name: 'the database' });
  for (const part of ['reads', 'writes', 'writes']) outage.failed(refused(), part);
  outage.answered('reads');
  expect(log.lines.map(({ event }) => event)).toEqual(['database.unreachable']);
  outage.answered('writes');
  expect(log.lines.map(({ event }) => event)).toEqual(['database.unreachable', 'database.back']);
});
