import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import { expect, test, type TestContext } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { requestPull } from '../../src/store/runs/run-requests.ts';
import { creates, insert, redisFor, serveBeside, setScene, type Scene } from './outbound-scene.ts';
import { gateTo, type Gate } from '../support/gate.ts';
import type { Program } from '../support/program.ts';
import { sized } from '../support/tiers.ts';

const OUTAGE_MS = sized({ quick: 1_500, acceptance: 30_000, deep: 30_000 });
const MOST_LINES_A_MINUTE = 5;
/** Polls, probes and retries take some seconds, on a busy machine some more. */
const SLACK_MS = 8_000;

interface Line {
  readonly time: string;
  readonly event?: string;
  readonly [name: string]: unknown;
}

/** The log of a process as it is written. */
function logOf({ child }: Program) {
  let text = '';
  let onMore = (): void => undefined;
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    onMore();
  });
  const lines = (): Line[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  return {
    lines,
    text: () => text,
    /** Resolves with the first line of an event, once it is there. */
    until: (event: string): Promise<Line> =>
      new Promise((resolve) => {
        onMore = () => {
          const found = lines().find((line) => line.event === event);
          if (found !== undefined) resolve(found);
        };
        onMore();
      }),
  };
}

type Log = ReturnType<typeof logOf>;

const isOfRun = (event: string | undefined): boolean => event?.startsWith('run.') === true;

const at = (instant: unknown): number => Date.parse(String(instant));

/** Takes something away for a while, and holds what the log says of it against what happened. */
async function outage(
  log: Log,
  subject: 'source' | 'database' | 'queue',
  { leave, come }: { leave: () => Promise<void>; come: () => Promise<void> },
): Promise<void> {
  const leftAt = Date.now();
  await leave();
  const away = await log.until(`${subject}.unreachable`);
  await systemClock.sleep(OUTAGE_MS);
  const cameAt = Date.now();
  await come();
  const back = await log.until(`${subject}.back`);

  expect(Math.abs(at(away['since']) - leftAt)).toBeLessThan(2 * SLACK_MS);
  expect(away).toMatchObject({
    level: 40,
    msg: expect.stringMatching(/ is unreachable: /) as string,
  });
  expect(at(back.time)).toBeGreaterThanOrEqual(cameAt);
  expect(at(back.time) - cameAt).toBeLessThan(2 * SLACK_MS);
  expect(back).toMatchObject({
    since: away['since'],
    msg: expect.stringMatching(/ is back after \d+ s/) as string,
  });
  // Each run that ends in these seconds has its line, as ever.
  const meanwhile = log
    .lines()
    .filter(({ time, event }) => at(time) >= leftAt && at(time) < cameAt && !isOfRun(event));
  const minutes = Math.max(1, (cameAt - leftAt) / 60_000);
  expect(meanwhile.length).toBeLessThanOrEqual(MOST_LINES_A_MINUTE * minutes);
}

/** Requests a run for each of these kinds, as schedules do that come due in the same minute. */
async function requestRuns({ session }: Scene, kinds: readonly string[]): Promise<void> {
  for (const kind of kinds)
    await session.atomically((tx) => requestPull(tx, { kinds: [kind], request: 'test', now: new Date() }));
}

const TEN = ['clients', ...LISTED_KINDS.map(({ name }) => name).filter((name) => name !== 'clients')];

/** A schedule for each kind, all due in the same minutes. */
const SCHEDULES = JSON.stringify(Object.fromEntries(TEN.map((kind) => [kind, '* * * * *'])));

/** The runs that lines of the log name as failed. */
const reportedAsFailed = (log: Log): readonly number[] =>
  log
    .lines()
    .filter(({ event }) => event === 'run.failed')
    .map((line) => Number(line['runId']));

/** The runs that read no list to its end. */
async function failedRuns({ session }: Scene): Promise<readonly number[]> {
  const rows = await session.query(sql`
    select id from runs where state = 'incomplete' and not exists (
      select 1 from run_kinds where run_id = runs.id and state in ('certified', 'complete'))
    order by id`);
  return rows.map((row) => Number(row['id']));
}

/** The address of a database behind a gate. */
async function behindGate(
  { onTestFinished }: TestContext,
  url: string,
): Promise<{ gate: Gate; url: string }> {
  const gate = await gateTo(url);
  onTestFinished(() => gate[Symbol.asyncDispose]());
  const gated = new URL(url);
  gated.port = new URL(gate.url).port;
  return { gate, url: gated.href };
}

test('the log alone tells when service, Redis and database went away and came back', async (context) => {
  const { onTestFinished } = context;
  const scene = await setScene(onTestFinished, { size: 20, at: 'postgres' });
  const redis = await redisFor(onTestFinished);
  const database = await behindGate(context, String(scene.env['DATABASE_URL']));
  const program = await serveBeside(onTestFinished, {
    ...scene.env,
    DATABASE_URL: database.url,
    QUEUE_URL: redis.url,
    BMS__SCHEDULES: SCHEDULES,
    BMS__SOURCE__MAX_ATTEMPTS: '3',
  });
  const log = logOf(program);
  await log.until('run.finished'); // The first reading of the kinds that the scene has not pulled.

  await outage(log, 'source', {
    leave: async () => {
      scene.gate.shut();
      await requestRuns(scene, TEN);
    },
    come: async () => {
      await scene.gate.open();
      await requestRuns(scene, ['clients']);
    },
  });
  expect(await log.until('run.failed')).toMatchObject({
    kinds: [{ kind: 'clients', state: 'aborted', reason: 'unreachable', rows: 0, changes: 0 }],
    level: 40,
  });
  const areAllReported = async (): Promise<boolean> =>
    isDeepStrictEqual(reportedAsFailed(log), await failedRuns(scene));
  await expect.poll(areAllReported, { interval: 50 }).toBe(true);
  await outage(log, 'queue', { leave: () => redis.kill9(), come: () => redis.start() });
  await outage(log, 'database', {
    leave: () => {
      database.gate.shut();
      return Promise.resolve();
    },
    come: () => database.gate.open(),
  });
  await insert(scene, creates('clients', 1));
  const done = await log.until('entry.done');
  program.child.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0 });

  expect(done).toMatchObject({
    kind: 'clients',
    entryId: 1,
    record: expect.stringMatching(/^\d+$/) as string,
  });
  const events = log.lines().map(({ event }) => event);
  for (const subject of ['source', 'queue', 'database'])
    expect(events.filter((event) => event?.startsWith(subject))).toEqual([
      `${subject}.unreachable`,
      `${subject}.back`,
    ]);
  expect(events).toContain('run.finished');
  expect(events).toContain('serve.stopping');
  expect(events.at(-1)).toBe('serve.stopped');
  expect(log.text()).not.toMatch(/"stack"|\\n {4}at /);
});
