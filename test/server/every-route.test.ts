import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/time/clock.ts';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { asking } from './ask.ts';
import type { Answer, Ask, Asked } from './ask.ts';
import { TOKEN, serveMirror, signIn } from './stage.ts';
import type { Stage } from './stage.ts';

const OPEN = [
  'GET /health',
  'HEAD /health',
  'GET /ready',
  'HEAD /ready',
  'GET /login',
  'HEAD /login',
  'POST /login',
];
const BEARER = { authorization: `Bearer ${TOKEN}` };

interface Case {
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
  readonly isChange: boolean;
}

/** Every route of the router, the ones that stand for missing methods included, with a path that fits it. */
function cases({ app }: Stage): readonly Case[] {
  return app.routes.flatMap(({ method, url, config }) =>
    [method].flat().map((name) => ({
      method: name,
      path: url.replace(':id', '1').replace(':kind', 'clients').replace(':name', 'shop'),
      isOpen: config?.open === true,
      isChange: !['GET', 'HEAD', 'OPTIONS'].includes(name),
    })),
  );
}

interface Table {
  readonly all: readonly Case[];
  readonly ask: Ask;
  readonly stage: Stage;
}

/** A server whose minute is over after each wrong token. */
async function table(token: string | null = TOKEN): Promise<Table> {
  let elapsed = 0;
  const clock = { ...systemClock, monotonicMs: () => (elapsed += 61_000) };
  const session = await tempMirror([kindNamed('clients'), kindNamed('products')]);
  const stage = await serveMirror(session, { clock, token });
  return { all: cases(stage), ask: asking(stage.url), stage };
}

/** The cases of one of several askers: each asks another share, and together they ask them all. */
const shareOf = (made: Table, at: number, count: number): Table => ({
  ...made,
  all: made.all.filter((_, index) => index % count === at),
});

const shown = ({ method, path }: Case, { status }: Answer): string => `${method} ${path}: ${status}`;

/** What each case came to, of those that did not come to what was expected. */
async function unexpected(
  { all, ask }: Table,
  toAsked: (one: Case) => Asked['headers'],
  isExpected: (answer: Answer, one: Case) => boolean,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const one of all) {
    const body = one.isChange ? { body: '{}' } : {};
    const type = one.isChange ? { 'content-type': 'application/json' } : {};
    const answer = await ask({ ...one, ...body, headers: { ...type, ...toAsked(one) } });
    if (!isExpected(answer, one)) wrong.push(shown(one, answer));
  }
  return wrong;
}

const isLetIn = ({ status }: Answer): boolean => status < 500 && ![401, 403, 421, 429].includes(status);

test('there are the routes of the contract, and each has an answer to every method', async () => {
  const { all, stage } = await table();
  const { app } = stage;
  expect(app.supportedMethods).toEqual(expect.arrayContaining(['TRACE', 'PATCH', 'OPTIONS']));
  const known = all.map(({ method, path }) => `${method} ${path}`);
  for (const route of [
    ...[
      'GET /',
      'GET /health',
      'GET /ready',
      'GET /login',
      'POST /login',
      'GET /metrics',
      'GET /openapi.json',
    ],
    ...['GET /v1/status', 'GET /v1/runs', 'GET /v1/runs/1', 'GET /v1/changes', 'GET /v1/records/clients/1'],
    ...['GET /v1/outbox', 'GET /v1/outbox/1', 'GET /v1/deletions', 'POST /v1/pulls', 'POST /v1/outbox'],
    ...['retry', 'adopt', 'abandon'].map((name) => `POST /v1/outbox/1/${name}`),
    ...['GET /v1/webhooks', 'GET /v1/webhooks/shop/deliveries', 'POST /v1/webhooks'],
    ...['test', 'rotate', 'disable', 'enable', 'replay', 'remove'].map(
      (name) => `POST /v1/webhooks/shop/${name}`,
    ),
    ...['POST /v1/outbox/resume', 'POST /v1/deletions/clients/approve', 'POST /v1/deletions/clients/reject'],
  ])
    expect(known).toContain(route);
  expect(
    all
      .filter(({ isOpen }) => isOpen)
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  ).toEqual(OPEN.toSorted());
  const paths = new Set(all.map(({ path }) => path));
  expect(all).toHaveLength(paths.size * app.supportedMethods.length);
});

test.each([
  ['without a token', {}],
  ['with a wrong token', { authorization: 'Bearer no-such-token-no-such-token-no-such-token' }],
  ['with a token of another scheme', { authorization: `Basic ${Buffer.from(TOKEN).toString('base64')}` }],
  ['with a forged cookie', { cookie: `bms_sync_session=9999999999.${'A'.repeat(43)}` }],
  ['with the token as a cookie', { cookie: `bms_sync_session=${TOKEN}` }],
])('%s, only what is open answers', async (_name, headers) => {
  const wrong = await unexpected(
    await table(),
    () => headers,
    (answer, { isOpen }) => (isOpen ? isLetIn(answer) || answer.status === 401 : answer.status === 401),
  );
  expect(wrong).toEqual([]);
});

test('with the token, everything answers', async () => {
  expect(await unexpected(await table(), () => BEARER, isLetIn)).toEqual([]);
});

test('with the cookie, reads answer, and changes only to the page of this host', async () => {
  const made = await table();
  const cookie = await signIn(made.stage);
  const { host } = made.stage;
  const isRefused = (answer: Answer, { isChange, isOpen }: Case): boolean =>
    isChange && !isOpen ? answer.status === 403 : isLetIn(answer);
  expect(await unexpected(made, () => ({ cookie }), isRefused)).toEqual([]);
  expect(await unexpected(made, () => ({ cookie, origin: `http://${host}` }), isLetIn)).toEqual([]);
});

test('asked under a foreign host name, nothing answers', async () => {
  const made = await table();
  const foreign = ['evil.example', 'localhost.evil.example', 'evil.example:8080', '10.0.0.1', 'localhost.'];
  for (const [at, host] of foreign.entries())
    expect(
      await unexpected(
        shareOf(made, at, foreign.length),
        () => ({ ...BEARER, host }),
        ({ status }) => status === 421,
      ),
    ).toEqual([]);
  const broken = ['a b', 'localhost:port', 'user@localhost', '[::1'];
  for (const [at, host] of broken.entries())
    expect(
      await unexpected(
        shareOf(made, at, broken.length),
        () => ({ ...BEARER, host }),
        ({ status }) => status === 400,
      ),
    ).toEqual([]);
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:80', '[::1]:8080'])
    expect((await made.ask({ path: '/v1/status', headers: { ...BEARER, host } })).status).toBe(200);
});

test('asked by a page of another origin, nothing changes', async () => {
  const made = await table();
  const cookie = await signIn(made.stage);
  const isRefused = (answer: Answer, { isChange }: Case): boolean =>
    isChange ? answer.status === 403 : isLetIn(answer);
  const others = [
    'http://evil.example',
    'null',
    `http://${made.stage.host}.evil.example`,
    'http://127.0.0.1:1',
  ];
  for (const [at, origin] of others.entries())
    for (const credential of [BEARER, { cookie }])
      expect(
        await unexpected(shareOf(made, at, others.length), () => ({ ...credential, origin }), isRefused),
      ).toEqual([]);
});

test('without an admin token, this machine may read and nobody may change', async () => {
  const isReadOnly = (answer: Answer, { isChange, isOpen }: Case): boolean =>
    isChange && !isOpen ? answer.status === 403 : isLetIn(answer) || isOpen;
  expect(await unexpected(await table(null), () => ({}), isReadOnly)).toEqual([]);
});

const STRICT = /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/;

test('every answer forbids to be kept, framed, sniffed or to run anything', async () => {
  const isCareful = ({ headers }: Answer): boolean => {
    const policy = String(headers['content-security-policy']);
    return (
      headers['cache-control'] === 'no-store' &&
      headers['x-content-type-options'] === 'nosniff' &&
      headers['x-frame-options'] === 'DENY' &&
      STRICT.test(policy)
    );
  };
  const made = await table();
  expect(await unexpected(made, () => BEARER, isCareful)).toEqual([]);
  expect(await unexpected(made, () => ({}), isCareful)).toEqual([]);
});

test('what a path has not is 405 and names what it has', async () => {
  const { ask } = await table();
  const answer = await ask({ method: 'DELETE', path: '/v1/outbox', headers: BEARER });
  expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  expect(JSON.parse(answer.text)).toMatchObject({ status: 405, code: 'http.method_not_allowed' });
});
