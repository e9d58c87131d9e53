import { expect, test } from 'vitest';
import fc from 'fast-check';
import { createOutageLog, createProbingLog, REMIND_MS, nextOutage } from '../../../src/lib/log/outage-log.ts';
import type { CallEnd, Outage, OutageStep } from '../../../src/lib/log/outage-log.ts';
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

/** A log of the queue's faults, which answers a number of times by turns; resolves once it was asked so often. */
function probed(answers: readonly boolean[]) {
  const [clock, log] = [fakeClock(), memoryLog()];
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
  const { faults, stop } = createProbingLog({ clock, logger: log.logger }, { ...queue, probe });
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

const ends = fc.array(
  fc.record({
    is: fc.constantFrom('answered' as const, 'failed' as const),
    pauseMs: fc.constantFrom(0, 1, 1_000, 60_000, REMIND_MS),
    part: fc.constantFrom('reads', 'writes'),
  }),
  { maxLength: 60 },
);

/** Plays ends of calls after each other; each step beside its end. */
function play(calls: readonly { is: CallEnd['is']; pauseMs: number; part: string }[]) {
  let at = 1_000_000;
  let outage: Outage | null = null;
  return calls.map(({ pauseMs, ...call }) => {
    at += pauseMs;
    const end: CallEnd =
      call.is === 'failed'
        ? { is: 'failed', part: call.part, at, begunAt: at - 1 }
        : { is: 'answered', part: call.part, at };
    const step: OutageStep = nextOutage(outage, end);
    outage = step.outage;
    return { end, ...step };
  });
}

test('each beginning is told once and has one end, however calls end in between', () => {
  fc.assert(
    fc.property(ends, (calls) => {
      const told = play(calls).flatMap(({ tell }) => (tell === 'began' || tell === 'ended' ? [tell] : []));
      expect(told).toEqual(told.map((_, i) => (i % 2 === 0 ? 'began' : 'ended')));
    }),
  );
});

test('an outage is on exactly while a part has failed and not answered since', () => {
  fc.assert(
    fc.property(ends, (calls) => {
      const failing = new Set<string>();
      for (const { end, outage } of play(calls)) {
        if (end.is === 'failed') failing.add(end.part);
        else failing.delete(end.part);
        expect(outage !== null).toBe(failing.size > 0);
      }
    }),
  );
});

test('while it lasts, it is told no more often than its reminder allows', () => {
  fc.assert(
    fc.property(ends, (calls) => {
      let toldAt = -Infinity;
      for (const { end, tell } of play(calls)) {
        if (tell === 'lasts') expect(end.at - toldAt).toBeGreaterThanOrEqual(REMIND_MS);
        if (tell === 'began' || tell === 'lasts') toldAt = end.at;
      }
    }),
  );
});

test('it began when the first failed call began, and counts the failed calls', () => {
  const [first, second] = play([
    { is: 'failed', pauseMs: 0, part: 'reads' },
    { is: 'failed', pauseMs: 5_000, part: 'reads' },
  ]);
  expect(first?.outage?.since).toBe(999_999);
  expect(second?.outage).toMatchObject({ since: 999_999, failures: 2 });
});
