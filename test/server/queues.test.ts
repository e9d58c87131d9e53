import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import type { AppControllerRoute } from '@bull-board/api/typings/app';
import { Queue, createPostgresBackend, withBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createBullmqBell } from '../../src/jobs/bullmq-bell.ts';
import type { WorkQueue } from '../../src/jobs/work-queue.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { memoryLog } from '../jobs/support.ts';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { freshRedis } from '../support/redis.ts';
import { viewQueues } from './queue-stage.ts';
import type { Views } from './queue-stage.ts';
import { TOKEN, jsonOf, serveMirror, signIn } from './stage.ts';
import type { Stage } from './stage.ts';

const SECRET = 'secret-of-another-application';

interface Served extends Views {
  readonly stage: Stage;
}

async function serveQueues(url?: string): Promise<Served> {
  const views = viewQueues(url);
  const session = await tempMirror([kindNamed('clients')]);
  return { ...views, stage: await serveMirror(session, { queueViews: views.queueViews }) };
}

const OUTBOX = { name: 'outbox', jobPrefix: 'ob', concurrency: 1 } as WorkQueue;

/** Rings a row that nobody listens for. */
async function ringUnheard({ url, prefix }: Views): Promise<void> {
  const bell = createBullmqBell(url, { clock: systemClock, logger: memoryLog().logger, prefix });
  onTestFinished(() => bell.close());
  expect(await bell.ring(OUTBOX, [{ id: 7, epoch: 2 }])).toBe(true);
}

/** Puts a job of another application into a queue, with a secret wherever a job can hold one. */
async function addForeign({ url, names }: Views): Promise<string> {
  const name = names[1] ?? '';
  const postgres = withBackend(createPostgresBackend);
  const queue = url.startsWith('redis')
    ? new Queue(name, { connection: { url } })
    : new postgres.Queue(name, { connection: { connectionString: url, schema: 'bullmq', migrate: true } });
  onTestFinished(() => queue.close());
  const data = { id: 7, epoch: 2, token: SECRET };
  const job = await queue.add(`job ${SECRET}`, data, { jobId: 'foreign', deduplication: { id: SECRET } });
  await job.log(SECRET);
  await job.updateProgress({ token: SECRET });
  await queue.upsertJobScheduler('daily', { every: 86_400_000 }, { name: 'x', data: { token: SECRET } });
  return 'foreign';
}

/** The routes that bull-board would have. */
function routesOfBullBoard(): readonly AppControllerRoute[] {
  const all: AppControllerRoute[] = [];
  const serverAdapter = new FastifyAdapter();
  serverAdapter.setApiRoutes = (routes) => {
    all.push(...routes);
    return serverAdapter;
  };
  createBullBoard({ queues: [], serverAdapter });
  return all;
}

const pathsOf = ({ route }: AppControllerRoute, queue: string, job: string): readonly string[] =>
  [route]
    .flat()
    .map((path) =>
      path
        .replace(':queueName', queue)
        .replace(':jobId', job)
        .replace(':queueStatus', 'wait')
        .replace(/:\w+/, 'daily'),
    );

describe.each([
  ['Redis', () => Promise.resolve(inject('redisUrl')), 'redis'],
  ['PostgreSQL', freshDatabaseUrl, 'postgres'],
] as const)('queues in %s', (_name, makeUrl, backend) => {
  test('are shown with the rows that wait in them, and where they are kept', async () => {
    const served = await serveQueues(await makeUrl());
    await ringUnheard(served);
    const { get } = served.stage;
    const asked = `activeQueue=${served.names[1]}&status=waiting&page=1&jobsPerPage=10`;
    const { queues } = (await jsonOf(await get(`/queues/api/queues?${asked}`))) as { queues: unknown[] };
    expect(queues).toMatchObject([
      { name: served.names[0], readOnlyMode: true, counts: { waiting: 0 }, jobs: [] },
      {
        ...{ name: served.names[1], readOnlyMode: true, allowRetries: false, counts: { waiting: 1 } },
        jobs: [{ id: 'ob-7-2', name: 'ring', data: { id: 7, epoch: 2 }, opts: {} }],
      },
    ]);
    const job = await get(`/queues/api/queues/${served.names[1]}/ob-7-2`);
    expect(await jsonOf(job)).toMatchObject({ job: { id: 'ob-7-2' }, status: 'waiting' });
    expect(await jsonOf(await get('/queues/api/redis/stats'))).toMatchObject({ backend });
    const page = await get('/queues');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(served.lines).toEqual([]);
  });

  test('tell nothing of what others have put into them', async () => {
    const served = await serveQueues(await makeUrl());
    const job = await addForeign(served);
    const [, queue = ''] = served.names;
    const reads = routesOfBullBoard().filter(({ method }) => method === 'get');
    const paths = [
      ...reads.flatMap((route) => pathsOf(route, queue, job)),
      `/api/queues?activeQueue=${queue}`,
    ];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const answer = await served.stage.get(`/queues${path}`);
        return { path, status: answer.status, text: await answer.text() };
      }),
    );
    expect(answers.filter(({ text }) => text.includes(SECRET))).toEqual([]);
    const found = answers.filter(({ status }) => status === 200).map(({ path }) => path);
    expect(answers.length - found.length).toBeLessThanOrEqual(2); // A schema and figures that we have not.
    expect(answers.map(({ text }) => text).join()).toContain('not a job of bms-sync');
    expect(served.lines).toEqual([]);
  });

  test('are changed by nothing that bull-board has for it, whoever asks', async () => {
    const served = await serveQueues(await makeUrl());
    await ringUnheard(served);
    const { stage, names } = served;
    const [, queue = ''] = names;
    const changes = routesOfBullBoard().filter(({ method }) => method !== 'get');
    expect(changes.length).toBeGreaterThan(20);
    const before = await (await stage.get('/queues/api/queues')).text();
    const cookie = await signIn(stage);
    const rights = [
      { headers: {}, statuses: [401] },
      { headers: { authorization: 'Bearer wrong' }, statuses: [401, 429] },
      { headers: { cookie }, statuses: [403] },
      { headers: { cookie, origin: stage.url }, statuses: [405] },
      { headers: { authorization: `Bearer ${TOKEN}` }, statuses: [405] },
    ];
    const asked = changes.flatMap((route) =>
      pathsOf(route, queue, 'ob-7-2').flatMap((path) =>
        [route.method].flat().flatMap((method) => rights.map((right) => ({ method, path, ...right }))),
      ),
    );
    for (const { method, path, headers, statuses } of asked) {
      const answer = await fetch(`${stage.url}/queues${path}`, { method: method.toUpperCase(), headers });
      const { code } = await jsonOf(answer);
      expect({ method, path, statuses, isRefused: statuses.includes(answer.status) }).toMatchObject({
        isRefused: true,
      });
      expect(code).toEqual(expect.stringMatching(/^http\./));
      if (answer.status === 405) expect(answer.headers.get('allow')).toBe('GET, HEAD');
    }
    expect(await (await stage.get('/queues/api/queues')).text()).toBe(before);
    expect(before).toContain('"waiting":1');
  });
});

test('looking writes nothing into the store', async () => {
  const redis = await freshRedis();
  const { stage, names } = await serveQueues(redis.url);
  for (const path of ['', '/api/queues', '/api/redis/stats', `/api/queues/${names[0]}/workers`])
    expect((await stage.get(`/queues${path}`)).status).toBe(200);
  const client = new Redis(redis.url);
  onTestFinished(() => {
    client.disconnect();
  });
  expect(await client.keys('*')).toEqual([]);
});

test('where there is no queue, a problem says so', async () => {
  const { get, post, url } = await serveMirror(await tempMirror([kindNamed('clients')]));
  for (const path of ['/queues', '/queues/', '/queues/api/queues', '/queues/static/js/main.js']) {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect(await jsonOf(answer)).toMatchObject({ code: 'queue.none' });
    expect((await fetch(`${url}${path}`)).status).toBe(401);
    expect((await post(path)).status).toBe(405);
  }
});

test('a store that is silent, or away, is a problem; it holds nothing up, and is asked again once it is back', async () => {
  const redis = await freshRedis();
  const { stage, queueViews } = await serveQueues(redis.url);
  const { app, get } = stage;
  expect((await get('/queues/api/queues')).status).toBe(200);
  redis.pause();
  const silent = await get('/queues/api/queues');
  expect([silent.status, silent.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await jsonOf(silent)).toMatchObject({ code: 'queue.unreachable' });
  expect((await get('/queues')).status).toBe(200);
  redis.resume();
  await redis.kill9();
  expect((await get('/queues/api/queues')).status).toBe(503);
  await redis.start();
  await expect.poll(async () => (await get('/queues/api/queues')).status, { timeout: 20_000 }).toBe(200);
  redis.pause();
  const waiting = Promise.allSettled([get('/queues/api/queues')]);
  const started = performance.now();
  await app.close();
  await queueViews.close();
  expect(performance.now() - started).toBeLessThan(5_000);
  await waiting; // With 503, or cut off.
});

test('a database that cannot be reached is a problem, and tells no password', async () => {
  const url = 'postgres://somebody:the-password@127.0.0.1:1/queues';
  const { stage, lines, queueViews } = await serveQueues(url);
  const answer = await stage.get('/queues/api/queues');
  expect(await jsonOf(answer)).toMatchObject({ status: 503, code: 'queue.unreachable' });
  await queueViews.close();
  expect(lines.length).toBeGreaterThan(0);
  expect(JSON.stringify([lines, stage.log])).not.toContain('the-password');
});

const UI = join(dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')), 'dist');

test('the page finds all its files here, runs no script but them, and loads nothing from elsewhere', async () => {
  const { stage } = await serveQueues();
  const page = await stage.get('/queues');
  const html = await page.text();
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
    ]),
  );
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(html).toContain('<base href="/queues/" />');
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)([^>]*)>/g)].map(
    ([, attributes = '']) => attributes,
  );
  expect(inline).toEqual([' id="__UI_CONFIG__" type="application/json"']); // Data, which no policy keeps from being read.
  expect(html).not.toMatch(/\son\w+=/);
  const linked = [...html.matchAll(/<(?:script|link)[^>]*?(?:src|href)="([^"]+)"/g)].map(
    ([, url = '']) => url,
  );
  const own = linked.filter((url) => !url.startsWith('https://fonts.googleapis.com/'));
  expect(own.length).toBeGreaterThan(5);
  expect(linked.length - own.length).toBe(1);
  for (const url of own) {
    const answer = await stage.get(`/queues/${url}`);
    expect([url, answer.status, (await answer.text()).length > 100]).toEqual([url, 200, true]);
  }
});

test('every file of the pages is served to who has the token, to nobody else, and none beside them', async () => {
  const { stage } = await serveQueues();
  const files = readdirSync(join(UI, 'static'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(UI.length));
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    const answer = await stage.get(`/queues${file}`);
    expect([file, answer.status, answer.headers.get('cache-control')]).toEqual([file, 200, 'no-store']);
    await answer.arrayBuffer();
    expect((await fetch(`${stage.url}/queues${file}`)).status).toBe(401);
  }
  for (const path of [
    '/static/../index.ejs',
    '/static/%2e%2e/index.ejs',
    '/static/..%2findex.ejs',
    '/index.ejs',
  ])
    expect((await stage.get(`/queues${path}`)).status).toBe(404);
});

test('what bull-board is asked is checked before it sees it', async () => {
  const { stage, names } = await serveQueues();
  for (const path of [
    '/queues/api/queues?jobsPerPage=1000000',
    '/queues/api/queues?page=0',
    '/queues/api/queues?activeQueue=%25',
    `/queues/api/queues/${names[0]}/%00`,
    '/queues/api/job-schedulers?queueName=%25E0',
  ])
    expect(await jsonOf(await stage.get(path))).toMatchObject({ status: 400, code: 'http.invalid_request' });
  for (const path of ['/queues/api/queues/nobodys/1', `/queues/api/queues/${names[0]}/1`])
    expect(await jsonOf(await stage.get(path))).toMatchObject({ status: 404, code: 'queue.absent' });
});

test('bull-board is loaded for those only who have a queue', () => {
  const src = join(import.meta.dirname, '../../src');
  const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('server/board/'))
    .filter((name) => /from '(?:@bull-board|[^']*\/board\/)/.test(readFileSync(join(src, name), 'utf8')));
  expect(users).toEqual([]);
});
