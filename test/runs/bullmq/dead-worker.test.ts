import { Queue, Worker } from 'bullmq';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readMeta } from '../../../src/store/kinds/meta.ts';
import { jobOf } from '../../../src/runs/bullmq/queue-client.ts';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { QUICK, memoryLog, ownPrefix, startTestEngine, workQueue, workSession } from '../engine/support.ts';

const NEVER = 3_600_000;

test('H05 rows whose jobs a worker took and died with are worked at once by the next process', async () => {
  const url = inject('redisUrl');
  const session = await workSession();
  const log = memoryLog();
  const prefix = ownPrefix();
  const work = workQueue(session);
  const openNotifier = () =>
    createBullmqNotifier(url, { clock: systemClock, logger: log.logger, timings: QUICK, prefix });
  const ids = await work.insert(4);
  const former = new Queue(`${prefix}-work`, { connection: { url } });
  const identity = (await readMeta(session, 'log')) ?? '';
  await former.addBulk(ids.map((id) => jobOf({ id, epoch: 0, task: 'work' }, identity)));
  await former.close();
  const dead = new Worker(`${prefix}-work`, null, { connection: { url } });
  onTestFinished(() => dead.close());
  for (const id of ids)
    expect(await dead.getNextJob('dead', { block: false })).toMatchObject({ id: `${identity}-${id}-0` });

  const timings = { renotifyMs: NEVER, fallbackMs: NEVER, unsentFallbackMs: NEVER };
  startTestEngine({ session, notifier: openNotifier(), work: [work], log, timings });
  await work.done(4);

  expect(await work.counts()).toEqual([1, 1, 1, 1]);
  expect(work.heard.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 1]);
});

test('only what a process finds when it begins is notified with a new epoch', async () => {
  const session = await workSession();
  const log = memoryLog();
  const work = workQueue(session);
  const notifier = createBullmqNotifier(inject('redisUrl'), {
    clock: systemClock,
    logger: log.logger,
    timings: QUICK,
    prefix: ownPrefix(),
  });
  await work.insert(3);
  startTestEngine({ session, notifier, work: [work], log, timings: { renotifyMs: NEVER } });
  await work.done(3);
  await work.insert(3);
  await work.done(6);
  expect(work.heard.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 0, 0, 0]);
});
