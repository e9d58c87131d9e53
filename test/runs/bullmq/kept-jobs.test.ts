import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { sql } from 'drizzle-orm';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import { renewLog } from '../../../src/store/kinds/meta.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import type { WorkQueue, WorkRef, WorkResult } from '../../../src/lib/work-queue.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { asked, create, opened, update } from '../../outbound/stage.ts';
import {
  QUICK,
  memoryLog,
  ownPrefix,
  startTestEngine,
  workQueue,
  workSession,
  type Work,
} from '../engine/support.ts';
import { freshRedis } from '../../support/redis.ts';

const NEVER = { renotifyMs: 3_600_000, fallbackMs: 3_600_000, unsentFallbackMs: 3_600_000 };

/** An engine that is notified through Redis, with the queue as others see it. */
function started(session: Session, work: Pick<Work, 'queue'>, prefix: string, url = inject('redisUrl')) {
  const log = memoryLog();
  const notifier = createBullmqNotifier(url, {
    clock: systemClock,
    logger: log.logger,
    timings: QUICK,
    prefix,
  });
  const engine = startTestEngine({ session, notifier, work: [work as Work], log, timings: NEVER });
  const queue = new Queue(`${prefix}-${work.queue.name}`, { connection: { url } });
  onTestFinished(() => queue.close());
  return { queue, engine };
}

const idIn = ({ data }: Job): number => (data as WorkRef).id;

/** The code of a failed job, or what a completed one returned. */
const outcomeOf = ({ failedReason, returnvalue }: Job): unknown =>
  [failedReason, returnvalue].find((value: unknown) => value !== undefined);

const ended = async (queue: Queue, count: number) => {
  for (;;) {
    const jobs = await queue.getJobs(['completed', 'failed']);
    if (jobs.length >= count) return jobs.toSorted((a, b) => idIn(a) - idIn(b));
    await systemClock.sleep(10);
  }
};

test('an attempt that did not succeed fails its job with its code; one that was put off does not', async () => {
  const session = await workSession();
  const results: readonly WorkResult[] = [
    { state: 'done', verdict: 'sent', hasFailed: false },
    { state: 'ready', verdict: 'busy', hasFailed: false },
    { state: 'rejected', verdict: 'service_refused', hasFailed: true },
    { state: 'failed', verdict: null, hasFailed: true },
    null,
  ];
  const work = workQueue(session, { result: (id) => results[id - 1] ?? null });
  const { queue } = started(session, work, ownPrefix());
  await work.insert(5);
  const jobs = await ended(queue, 5);
  expect(jobs.map((job) => [job.name, outcomeOf(job)])).toEqual([
    ['test work', { state: 'done', verdict: 'sent' }],
    ['test work', { state: 'ready', verdict: 'busy' }],
    ['test work', 'service_refused'],
    ['test work', 'failed'],
    ['test work', null],
  ]);
  expect(await queue.getFailedCount()).toBe(2);
  expect(jobs.flatMap((job) => job.stacktrace)).toEqual([]);
  for (const job of jobs)
    expect(job.opts).toMatchObject({
      removeOnComplete: { age: 86_400, count: 1_000 },
      removeOnFail: { age: 7 * 86_400, count: 1_000 },
    });
});

test('work that throws fails its job without its message', async () => {
  const session = await workSession();
  const work = workQueue(session, {
    handle: () => {
      throw Object.assign(new Error('names Zoe'), { code: 'SQLITE_BUSY' });
    },
  });
  const { queue } = started(session, work, ownPrefix());
  await work.insert(1);
  const [job] = await ended(queue, 1);
  expect(job).toMatchObject({ failedReason: 'SQLITE_BUSY', stacktrace: [] });
});

test('a mirror that is made anew works at once beside a Redis that remembers the former one', async () => {
  const prefix = ownPrefix();
  for (let mirror = 1; mirror <= 2; mirror++) {
    const session = await workSession();
    const work = workQueue(session);
    await session.atomically(renewLog); // Mirrors of tests are copies of one.
    const { queue, engine } = started(session, work, prefix);
    await work.insert(1);
    await work.done(1);
    await work.insert(3);
    await work.done(4); // Of equal ids and epochs as those of the former mirror.
    expect(work.heard.at(-1)?.epoch).toBe(0);
    await ended(queue, 4 * mirror);
    await engine.close();
  }
});

/** All that a Redis holds, as text. */
async function contentOf(url: string): Promise<string> {
  const client = new Redis(url);
  onTestFinished(() => {
    client.disconnect();
  });
  const dumps = (await client.keys('*')).map(async (key) => [
    key,
    (await client.dumpBuffer(key)).toString('latin1'),
  ]);
  return JSON.stringify(await Promise.all(dumps));
}

test('a failed entry that somebody retries by hand is not sent twice, and Redis learns nothing of it', async () => {
  const redis = await freshRedis();
  const on = await opened();
  const id = await on.firstId('clients');
  on.service.setFaults([
    { on: { method: 'POST' }, times: 1, do: { drop: 'after' } },
    { on: { method: 'POST' }, times: 1, do: { status: 422, body: '{"message":"Zoe has no phone"}' } },
    { on: { method: 'POST' }, times: 1, do: { status: 429, body: '{"message":"Zoe must wait"}' } },
  ]);
  await on.store(create({ code: 'Z1', name: 'Zoe One' }));
  await on.store(create({ code: 'Z2', name: 'Zoe Two' }));
  await on.store(create({ code: 'Z3', name: 'Zoe Three' }));
  await on.store(update(id, { city: 'Zoetown' }));
  const outbox: WorkQueue = {
    ...on.outbox,
    name: 'outbox',
    concurrency: 1,
    releaseStaleClaims: () => Promise.resolve(),
  };
  const { queue } = started(on.session, { queue: outbox }, 'bms', redis.url);

  const jobs = await ended(queue, 4);
  expect(jobs.map((job) => [job.name, outcomeOf(job)])).toEqual([
    ['create clients', 'ambiguous'],
    ['create clients', 'service_refused'],
    ['create clients', { state: 'ready', verdict: 'busy' }],
    ['update clients', { state: 'done', verdict: 'sent' }],
  ]);
  const rows = await on.rows(sql`select state, epoch from outbox order by id`);
  const posts = asked(on, 'POST').length;
  for (const job of await queue.getFailed()) await job.retry();
  await ended(queue, 4);
  expect(await queue.getFailedCount()).toBe(0);
  expect(asked(on, 'POST')).toHaveLength(posts);
  expect(await on.rows(sql`select state, epoch from outbox order by id`)).toEqual(rows);

  const content = await contentOf(redis.url);
  expect(content).toContain('create clients');
  expect(content).not.toMatch(/zoe/i);
});
