import { expect, test } from 'vitest';
import { createFaultLog, createProbingLog } from '../../../src/lib/log/fault-log.ts';
import { SyncError } from '../../../src/lib/sync-error.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../runs/engine/support.ts';

const refused = (): Error => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

function logOf(subject: Parameters<typeof createFaultLog>[1]) {
  const clock = fakeClock();
  const { logger, lines } = memoryLog();
  return { clock, lines, log: createFaultLog({ logger, clock }, subject) };
}

test('a fault that comes again and again is one line, another fault of the same work is one more', () => {
  const { lines, log } = logOf({ name: 'polling outbox' });
  for (let time = 0; time < 60; time += 1) {
    log.failed(refused());
    log.failed(new SyncError('It is full.', { code: 'full', hint: 'Empty it.' }));
  }
  expect(lines).toMatchObject([
    { level: 40, work: 'polling outbox', err: { code: 'ECONNREFUSED' }, msg: 'polling outbox failed' },
    { level: 40, work: 'polling outbox', err: { code: 'full', message: 'It is full.', hint: 'Empty it.' } },
  ]);
  expect(lines).toHaveLength(2);
});

test('work that fails and succeeds by turns is one line, and another one after a minute without a fault', async () => {
  const { clock, lines, log } = logOf({ name: 'work on outbox' });
  log.succeeded();
  for (let time = 0; time < 4; time += 1) {
    log.failed(refused());
    await clock.sleep(59_000);
    log.succeeded();
  }
  expect(lines).toHaveLength(1);
  await clock.sleep(1_000);
  log.succeeded();
  log.succeeded();
  log.failed(refused());
  expect(lines.map(({ msg }) => msg)).toEqual([
    'work on outbox failed',
    'work on outbox works again after 4 min',
    'work on outbox failed',
  ]);
});

test('an outage is two lines that read on their own: since when and why, and after how long it is back', async () => {
  const { clock, lines, log } = logOf({ event: 'source', name: 'the service' });
  log.succeeded();
  const since = clock.now().toISOString();
  for (let second = 0; second < 31; second += 1) {
    log.failed(second === 0 ? new TypeError('fetch failed', { cause: refused() }) : new Error('another'));
    await clock.sleep(1_000);
  }
  log.succeeded();
  log.succeeded();
  expect(lines).toMatchObject([
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
  expect(lines).toHaveLength(2);
});

test.each([
  [
    new SyncError('The mirror a cannot be reached (57P03).', { code: 'a' }),
    'The mirror a cannot be reached (57P03)',
  ],
  [Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), 'host name is unknown'],
  [new Error('it answered 503'), 'it answered 503'],
  ['a text', 'a text'],
])('%s is unreachable because of: %s', (error, reason) => {
  const { lines, log } = logOf({ event: 'monitor', name: 'the monitor' });
  log.failed(error);
  expect(lines).toMatchObject([{ reason }]);
});

test('a database that answers reads only is still away', () => {
  const { lines, log } = logOf({ event: 'database', name: 'the database' });
  for (const part of ['reads', 'writes', 'writes']) log.failed(refused(), part);
  log.succeeded('reads');
  expect(lines.map(({ event }) => event)).toEqual(['database.unreachable']);
  log.succeeded('writes');
  expect(lines.map(({ event }) => event)).toEqual(['database.unreachable', 'database.back']);
});

/** A log of the queue's faults, which answers a number of times by turns; `stop` resolves once it was asked so often. */
function probed(answers: readonly boolean[]) {
  const clock = fakeClock();
  const { logger, lines } = memoryLog();
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
  const log = createProbingLog({ logger, clock }, { ...queue, probe });
  return { lines, log, stop: () => allAsked.then(log.stop) };
}

test('a fault of something that answers when it is asked is a fault, and no outage', async () => {
  const { lines, log, stop } = probed([true]);
  log.failed('notifying outbox', refused());
  await stop();
  expect(lines).toMatchObject([{ level: 40, work: 'notifying outbox', msg: 'notifying outbox failed' }]);
});

test('something that does not answer is asked until it does, and is away once, whatever faults come meanwhile', async () => {
  const { lines, log, stop } = probed([false, false, true]);
  for (let fault = 0; fault < 3; fault += 1) log.failed('notifying outbox', refused());
  await stop();
  expect(lines).toMatchObject([
    { level: 40, event: 'queue.unreachable', reason: 'connection refused' },
    { level: 30, event: 'queue.back' },
  ]);
});
