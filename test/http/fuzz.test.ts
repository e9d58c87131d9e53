import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson } from '../../src/lib/json/json.ts';
import { truncate, replaceUnstorable } from '../../src/lib/text/text.ts';
import { kindNamed, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';
import { sized } from '../support/tiers.ts';
import { httpClient, type Ask, type Asked } from './ask.ts';
import { TOKEN, serveMirror, signIn, type Stage } from './stage.ts';

const REQUESTS = sized({ quick: 700, acceptance: 5_000, deep: 5_000 });
const SEED = 20_260_301;
const AT_ONCE = 8;

const OPEN = ['/health', '/ready', '/login'];

/** Longer ones do not come as far as a route: the parser of HTTP refuses them, without knowing that HEAD has no body. */
const LONGEST = 1_000;

const QUERY = ['after', 'before', 'limit', 'kind', 'state', 'x', '__proto__'];

const nasty = fc.oneof(
  fc
    .constantFrom(...NASTY_VALUES)
    .map((value) => truncate(typeof value === 'string' ? value : compactJson(value), LONGEST)),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '1',
    '0',
    '-1',
    '9223372036854775807',
    '1e9',
    '01',
    'clients',
    'products',
    'mirror_meta',
    '*',
  ),
);

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

const path = fc
  .tuple(
    fc.constantFrom(
      '/',
      '/v1/status',
      '/v1/runs',
      '/v1/runs/:x',
      '/v1/changes',
      '/v1/records/:x/:x',
      '/v1/outbox',
      '/v1/outbox/:x',
      '/v1/outbox/:x/retry',
      '/v1/outbox/:x/adopt',
      '/v1/outbox/1/abandon',
      '/metrics',
      '/v1/outbox/resume',
      '/v1/deletions',
      '/v1/deletions/:x/approve',
      '/v1/pulls',
      '/openapi.json',
      '/login',
      '/health',
      '/ready',
      '/v1/records/clients/:x',
      '/:x',
      '/v1/../v1/status',
      '//v1/status',
    ),
    fc.array(nasty, { minLength: 2, maxLength: 2 }),
    fc.array(fc.tuple(fc.constantFrom(...QUERY), nasty), {
      maxLength: 3,
    }),
    fc.boolean(),
  )
  .map(([pattern, parts, query, isEncoded]) => {
    const encode = (text: string): string =>
      isEncoded ? encodeURIComponent(replaceUnstorable(text)) : printable(text).replace(/[ #?]/g, '%');
    let next = 0;
    const filled = pattern.replace(/:x/g, () => encode(parts[next++] ?? ''));
    const asked = query.map(([name, value]) => `${name}=${encode(value)}`).join('&');
    return asked === '' ? filled : `${filled}?${asked}`;
  });

const json = fc.jsonValue({ maxDepth: 4 });
const entry = fc.record({
  operation: fc.constantFrom('create', 'update', 'delete'),
  kind: fc.constantFrom('clients', 'products', 'punches', 'x'),
  id: fc.option(fc.oneof(fc.maxSafeInteger(), fc.string(), fc.constant('1')), { nil: undefined }),
  data: fc.oneof(
    fc.dictionary(fc.constantFrom('code', 'name', 'credit', 'id', 'email', 'x'), fc.oneof(nasty, json)),
    json,
  ),
  base: fc.option(json, { nil: undefined }),
});

const body = fc.oneof(
  { weight: 3, arbitrary: entry.map((value) => JSON.stringify(value)) },
  json.map((value) => JSON.stringify(value)),
  fc.record({ kinds: fc.array(nasty, { maxLength: 3 }) }).map((value) => JSON.stringify(value)),
  fc.record({ recordId: fc.oneof(nasty, json) }).map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', 'null', '[[[[', '{"a":1e99999}', '{"__proto__":{"x":1}}', '{"kinds":[]}', '1e400'),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      ';',
    ),
    'idempotency-key': nasty.map(printable),
    accept: fc.constantFrom('*/*', 'text/html'),
    'last-event-id': nasty.map(printable),
    origin: fc.constantFrom('http://evil.example', 'null', 'http://', 'x'),
    host: fc.constantFrom('localhost', 'localhost', 'localhost', 'evil.example', '[', 'a:b:c'),
    'content-encoding': fc.constantFrom('gzip', 'x'),
    expect: fc.constant('100-continue'),
    'x-forwarded-for': fc.constant('127.0.0.1'),
    'x-http-method-override': fc.constant('GET'),
  },
  { requiredKeys: ['content-type'] },
);

type Credential = 'none' | 'wrong' | 'forged' | 'token' | 'cookie';

const credential = fc.constantFrom<Credential>(
  'none',
  'wrong',
  'forged',
  'token',
  'token',
  'token',
  'cookie',
);

const anything = fc.record({
  method: fc.constantFrom(
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'HEAD',
  ),
  path,
  headers,
  body,
  credential,
});

/** Requests that have all that it takes to come as far as the mirror. */
const plausible = fc.record({
  method: fc.constant('POST'),
  path: fc.constantFrom(
    '/v1/outbox',
    '/v1/outbox',
    '/v1/pulls',
    '/v1/outbox/1/abandon',
    '/v1/outbox/2/retry',
    '/v1/outbox/1/adopt',
  ),
  headers: fc.record({
    'content-type': fc.constant('application/json'),
    'idempotency-key': fc.constantFrom('one', 'two', 'three'),
  }),
  body: fc
    .oneof(
      fc.record({
        operation: fc.constant('create'),
        kind: fc.constant('clients'),
        data: fc.record({ code: nasty }),
      }),
      entry,
      fc.record({ kinds: fc.subarray(['clients', 'products', 'x']) }),
      fc.record({ recordId: fc.constantFrom('1', '2', 1) }),
      fc.constant({}),
    )
    .map((value) => JSON.stringify(value)),
  credential: fc.constantFrom<Credential>('token', 'token', 'wrong', 'cookie'),
});

const request = fc.oneof({ weight: 4, arbitrary: anything }, { weight: 1, arbitrary: plausible });

const credentials = (cookie: string): Readonly<Record<Credential, Record<string, string>>> => ({
  none: {},
  wrong: { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  forged: { cookie: cookie.slice(0, -1) },
  token: { authorization: `Bearer ${TOKEN}` },
  cookie: { cookie },
});

async function startStage(): Promise<Stage> {
  const session = await tempMirror([kindNamed('clients'), kindNamed('products')]);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1', _raw: '{"id":1}' }]));
  return await serveMirror(session);
}

async function askAll(
  ask: Ask,
  all: readonly Asked[],
  judge: (n: number, status: number, text: string) => void,
) {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < all.length; n = next++) {
      const asked = all[n];
      if (asked === undefined) return;
      const { status, text } = await ask(asked);
      judge(n, status, text);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

test(`${REQUESTS} requests of every sort break nothing, let nobody in, and tell no secret`, async () => {
  const stage = await startStage();
  const known = credentials(await signIn(stage));
  const drawn = fc.sample(request, { seed: SEED, numRuns: REQUESTS });
  const all = drawn.map(({ credential, method, body: text, path: asked, ...rest }) => ({
    ...rest,
    method,
    path: asked,
    headers: { ...rest.headers, ...known[credential] },
    ...(!['GET', 'HEAD'].includes(method) && { body: text }),
  }));
  const statuses = new Map<number, number>();
  const broken: unknown[] = [];
  await askAll(httpClient(stage.url, AT_ONCE), all, (n, status, text) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const { credential, path: asked } = drawn[n] ?? {};
    const isOpen = OPEN.some((open) => asked === open || asked?.startsWith(`${open}?`));
    const isStranger = credential !== 'token' && credential !== 'cookie' && !isOpen && status < 400;
    const leaks = text.includes(TOKEN) || /\n\s+at \S+|node_modules|sqlite/i.test(text);
    if (status >= 500 || isStranger || leaks)
      broken.push({ status, text: text.slice(0, 200), asked: all[n] });
  });
  expect(broken).toEqual([]);
  expect([...statuses.keys()].sort()).toEqual(
    expect.arrayContaining([200, 202, 400, 401, 403, 404, 409, 421, 429]),
  );
  expect(stage.log.filter((line) => line.includes(TOKEN) || line.includes('"level":50'))).toEqual([]);
  expect((await stage.get('/health')).status).toBe(200);
});
