import { sql } from 'drizzle-orm';
import { describe, expect, inject, test } from 'vitest';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import { createInProcessNotifier, type Notifier } from '../../../src/runs/engine/notifier.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import type { WorkQueue } from '../../../src/lib/work-queue.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { gate } from '../../store/temp-mirror.ts';
import {
  QUICK,
  memoryLog,
  ownPrefix,
  startTestEngine,
  workQueue,
  workSession,
  type Log,
  type Started,
} from './support.ts';

const bullmq = (url: string, log: Log, prefix = ownPrefix()): Notifier =>
  createBullmqNotifier(url, { clock: systemClock, logger: log.logger, timings: QUICK, prefix });

/** Where notifiers of one test meet: each makes a process's own notifier. */
const NOTIFIERS: readonly (readonly [string, () => Promise<(log: Log) => Notifier>])[] = [
  ['in this process', () => Promise.resolve(() => createInProcessNotifier())],
  [
    'by BullMQ',
    () => {
      const prefix = ownPrefix();
      return Promise.resolve((log) => bullmq(inject('redisUrl'), log, prefix));
    },
  ],
];

describe.each(NOTIFIERS)('an engine that is notified %s', (_, meet) => {
  test('works every row once, in two processes side by side', async () => {
    const makeNotifier = await meet();
    const session = await workSession();
    const log = memoryLog();
    const shares = ['one', 'two'].map((owner) => workQueue(session, { owner }));
    const [one, two] = shares;
    if (one === undefined || two === undefined) throw new Error('two shares');
    startTestEngine({ session, notifier: makeNotifier(log), work: [one], log, owner: 'one' });
    startTestEngine({ session, notifier: makeNotifier(log), work: [two], log, owner: 'two' });
    const done = Promise.race([one.done(200), two.done(200), both(one.done(1), two.done(1))]);
    await one.insert(200);
    await done;
    await until(async () => (await one.counts()).every((count) => count === 1));
    expect(await one.counts()).toEqual(Array(200).fill(1));
  });

  test('never works more rows at once than the queue allows', async () => {
    const makeNotifier = await meet();
    const session = await workSession();
    const log = memoryLog();
    let now = 0;
    let most = 0;
    const work = workQueue(session, {
      concurrency: 3,
      handle: async () => {
        most = Math.max(most, ++now);
        await systemClock.sleep(5);
        now -= 1;
      },
    });
    startTestEngine({ session, notifier: makeNotifier(log), work: [work], log });
    await work.insert(40);
    await work.done(40);
    expect(most).toBe(3);
  });

  test('F05 does nothing about refs for rows that are done, or for another epoch', async () => {
    const makeNotifier = await meet();
    const session = await workSession();
    const log = memoryLog();
    const work = workQueue(session);
    const notifier = makeNotifier(log);
    startTestEngine({ session, notifier, work: [work], log });
    const [id = 0] = await work.insert(1);
    await work.done(1);
    for (const [log, epoch] of [0, 7, 0].entries()) {
      const before = work.heard.length;
      await until(async () => {
        await notifier.notify(work.queue, [{ id, epoch, task: 'work' }], `log-${log}`);
        return work.heard.length > before;
      });
    }
    expect(await work.counts()).toEqual([1]);
  });

  test('F12 tries a row again whose work threw, and says so', async () => {
    const makeNotifier = await meet();
    const session = await workSession();
    const log = memoryLog();
    let tries = 0;
    const work = workQueue(session, {
      handle: () => {
        tries += 1;
        if (tries < 3) throw new Error('a bug');
      },
    });
    startTestEngine({ session, notifier: makeNotifier(log), work: [work], log });
    await work.insert(1);
    await work.done(1);
    expect(tries).toBe(3);
    expect(log.lines).toContainEqual(expect.objectContaining({ msg: 'work on work failed' }));
  });

  test('H05 closes once the work in hand has ended, and begins no other', async () => {
    const makeNotifier = await meet();
    const session = await workSession();
    const log = memoryLog();
    const begun = gate();
    const end = gate();
    const work = workQueue(session, {
      concurrency: 1,
      handle: async () => {
        begun.open();
        await end.opened;
      },
    });
    const engine = startTestEngine({ session, notifier: makeNotifier(log), work: [work], log });
    await work.insert(2);
    await begun.opened;
    const closed = engine.close();
    end.open();
    await closed;
    expect(await work.counts()).toEqual([1, 0]);
    expect(await session.query(sql`select owner from workers`)).toEqual([]);
  });
});

describe('an engine', () => {
  const alone = async (
    options: Parameters<typeof workQueue>[1] = {},
    timings: Partial<typeof QUICK> = {},
  ) => {
    const session = await workSession();
    const log = memoryLog();
    const work = workQueue(session, options);
    const start = (changes: Partial<Started> = {}) =>
      startTestEngine({
        session,
        notifier: createInProcessNotifier(),
        work: [work],
        log,
        timings,
        ...changes,
      });
    return { session, work, start, log };
  };
  const NEVER = 3_600_000;

  test('looks at once where it is woken', async () => {
    const { work, start } = await alone({}, { pollMs: NEVER });
    const engine = start();
    await work.insert(1);
    engine.wake();
    await work.done(1);
  });

  test('looks again as soon as it has worked half of what a look took in', async () => {
    const { work, start } = await alone({}, { pollMs: NEVER, batch: 10 });
    await work.insert(115);
    start();
    await work.done(115);
    expect(await work.counts()).toEqual(Array(115).fill(1));
  });

  test('works all rows that a dead notifier left lying, without a look for each few', async () => {
    const { work, start } = await alone({}, { pollMs: 250, unsentFallbackMs: 250 });
    await work.insert(100);
    let looks = 0;
    const due: WorkQueue['due'] = (limit) => {
      looks += 1;
      return work.queue.due(limit);
    };
    const notifier = { ...createInProcessNotifier(), notify: () => Promise.resolve(false) };
    start({ notifier, work: [{ ...work, queue: { ...work.queue, due } }] });
    await work.done(100);
    expect(looks).toBeLessThan(13); // Four a look would take 25.
    expect(await work.counts()).toEqual(Array(100).fill(1));
  });

  test('frees rows of the dead again and again', async () => {
    let times = 0;
    const third = gate();
    const releaseStaleClaims = (): Promise<void> => {
      times += 1;
      if (times === 3) third.open();
      return Promise.reject(new Error('database away')); // Which is not a reason to stop.
    };
    const { start, log } = await alone({ takeOver: releaseStaleClaims });
    start();
    await third.opened;
    expect(log.lines).toContainEqual(expect.objectContaining({ msg: 'taking over work failed' }));
  });

  test('registers itself before it claims a row, however long that takes', async () => {
    const { work, start, session } = await alone();
    let tries = 0;
    const flaky: Session = {
      ...session,
      query: (statement) => session.query(statement),
      atomically: (transaction) =>
        ++tries < 4 ? Promise.reject(new Error('database away')) : session.atomically(transaction),
    };
    await work.insert(1);
    start({ session: flaky });
    await work.done(1);
    expect(tries).toBeGreaterThanOrEqual(4);
    expect(await session.query(sql`select owner from workers`)).toEqual([{ owner: 'test' }]);
  });

  test('tells work in hand to stop when its grace has run out, and stays entered for others to take over', async () => {
    const begun = gate();
    const handle = async (_id: number, signal: AbortSignal): Promise<void> => {
      begun.open();
      await systemClock.sleep(NEVER, signal);
    };
    const { work, start, session } = await alone({ handle }, { graceMs: 50 });
    const engine = start();
    await work.insert(1);
    await begun.opened;
    await engine.close();
    expect(await session.query(sql`select owner from workers`)).toEqual([{ owner: 'test' }]);
  });

  test('can be closed before it has begun, and twice', async () => {
    const { start } = await alone();
    const engine = start();
    await Promise.all([engine.close(), engine.close()]);
  });
});

const both = async (a: Promise<void>, b: Promise<void>): Promise<void> => {
  await Promise.all([a, b]);
};

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(10);
}
