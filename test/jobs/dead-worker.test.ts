import { Worker, createPostgresBackend, withBackend } from 'bullmq';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createBullmqBell } from '../../src/jobs/bullmq-bell.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { QUICK, longest, memoryLog, ownPrefix, startTestEngine, workQueue, workSession } from './support.ts';

interface Taker {
  getNextJob(token: string, options: { block: boolean }): Promise<{ readonly id?: string } | undefined>;
  close(): Promise<void>;
}

type Store = readonly [name: string, make: () => Promise<{ url: string; open: (name: string) => Taker }>];

const STORES: readonly Store[] = [
  [
    'Redis',
    () => {
      const url = inject('redisUrl');
      return Promise.resolve({ url, open: (name) => new Worker(name, null, { connection: { url } }) });
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const url = await freshDatabaseUrl();
      const classes = withBackend(createPostgresBackend);
      const connection = { connectionString: url, schema: 'bullmq', migrate: true };
      return { url, open: (name) => new classes.Worker(name, null, { connection }) };
    },
  ],
];

const NEVER = 3_600_000;

test.each(STORES)(
  'H05 rows whose rings in %s a worker took and died with are worked at once by the next process',
  async (_, make) => {
    const { url, open } = await make();
    const [session, log, prefix] = [await workSession(), memoryLog(), ownPrefix()];
    const work = workQueue(session);
    const openBell = () =>
      createBullmqBell(url, { clock: systemClock, logger: log.logger, pace: QUICK, prefix });
    const ids = await work.insert(4);
    const former = openBell();
    const rings = ids.map((id) => ({ id, epoch: 0 }));
    while (!(await former.ring(work.queue, rings))) await systemClock.sleep(10);
    await former.close();
    const dead = open(`${prefix}-work`);
    onTestFinished(() => dead.close());
    for (const id of ids)
      expect(await dead.getNextJob('dead', { block: false })).toMatchObject({ id: `wk-${id}-0` });

    const pace = { ringAgainMs: NEVER, workHereMs: NEVER, unsentMs: NEVER };
    startTestEngine({ session, bell: openBell(), work: [work], log, pace });
    await work.done(4);

    expect(await work.counts()).toEqual([1, 1, 1, 1]);
    expect(work.heard.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 1]);
    expect(longest(work.waits)).toBeLessThan(10_000);
  },
);

test('only what a process finds when it begins is rung with a new epoch', async () => {
  const [session, log] = [await workSession(), memoryLog()];
  const work = workQueue(session);
  const bell = createBullmqBell(inject('redisUrl'), {
    clock: systemClock,
    logger: log.logger,
    pace: QUICK,
    prefix: ownPrefix(),
  });
  await work.insert(3);
  startTestEngine({ session, bell, work: [work], log, pace: { ringAgainMs: NEVER } });
  await work.done(3);
  await work.insert(3);
  await work.done(6);
  expect(work.heard.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 0, 0, 0]);
});
