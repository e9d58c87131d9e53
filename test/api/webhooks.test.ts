import { SENDING } from '../events/webhooks/stage.ts';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { startReceiver, verified } from '../events/webhooks/receiver.ts';
import { REFUSED_URLS } from '../lib/net/addresses.ts';
import { DATABASES, ONE_DATABASE } from '../store/databases.ts';
import { insertUser } from '../../src/store/users/user-store.ts';
import { jsonOf, serveMirror } from '../http/stage.ts';

const URL_OUTSIDE = 'https://192.0.43.8/in';
const webhooks = SENDING;
const SECRET = /^whsec_[\w+/]{43}=$/;

const codeOf = async (answer: Response): Promise<unknown[]> => [
  answer.status,
  (await jsonOf(answer))['code'],
];

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('an endpoint is added with a secret that is shown this once', async () => {
    const stage = await serveMirror(await open(), { webhooks });
    const body = { name: 'shop', url: URL_OUTSIDE, kinds: ['clients'], changes: ['deleted'] };
    const answer = await stage.post('/v1/webhooks', body);
    expect(answer.status).toBe(201);
    const { secret, ...rest } = await jsonOf(answer);
    expect(rest).toEqual({ name: 'shop', url: URL_OUTSIDE });
    expect(secret).toMatch(SECRET);
    const listed = await stage.get('/v1/webhooks');
    const text = JSON.stringify(await jsonOf(listed));
    expect(text).not.toContain(String(secret));
    expect(JSON.parse(text)).toMatchObject({ endpoints: [{ ...body, fields: null, health: 'healthy' }] });
    const rotated = await stage.post('/v1/webhooks/shop/rotate');
    expect(await jsonOf(rotated)).toEqual({
      ...rest,
      secret: expect.stringMatching(SECRET) as string,
    });
    expect(stage.log.join('\n')).not.toContain('whsec_');
  });

  test('of an address only the origin is shown to whoever is no admin', async () => {
    const session = await open();
    const stage = await serveMirror(session, { webhooks });
    await stage.post('/v1/webhooks', { name: 'shop', url: 'https://192.0.43.8/catch/PATH-SECRET' });
    const urlFor = async (headers: Record<string, string>) => {
      const listed = await fetch(`${stage.url}/v1/webhooks`, { headers });
      return ((await jsonOf(listed))['endpoints'] as { url: string }[])[0]?.url;
    };
    for (const role of ['viewer', 'writer', 'operator', 'admin'] as const) {
      const token = `token-of-the-${role}`;
      await session.atomically((tx) => insertUser(tx, { name: role, role, token }));
      const path = role === 'admin' ? 'catch/PATH-SECRET' : '…';
      expect(await urlFor({ authorization: `Bearer ${token}` })).toBe(`https://192.0.43.8/${path}`);
    }
  });

  test('decisions change what is sent, and wake the engine', async () => {
    const session = await open();
    const stage = await serveMirror(session, { webhooks });
    await stage.post('/v1/webhooks', { name: 'shop', url: URL_OUTSIDE });
    const decide = async (decision: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await stage.post(`/v1/webhooks/shop/${decision}`, body);
      return jsonOf(answer);
    };
    const state = async (): Promise<unknown> =>
      (await session.query(sql`select state, replay_after from webhook_endpoints`))[0];
    expect(await decide('disable')).toEqual({ name: 'shop', state: 'disabled' });
    expect(await state()).toEqual({ state: 'disabled', replay_after: null });
    expect(await decide('enable')).toEqual({ name: 'shop', state: 'active' });
    expect(await decide('replay', { after: 7 })).toEqual({ name: 'shop', after: 7, events: 0 });
    expect(await state()).toEqual({ state: 'active', replay_after: 7 });
    expect(await decide('replay', {})).toEqual({ name: 'shop', after: 0, events: 0 });
    expect(stage.wakes()).toBe(5);
    expect(await decide('remove')).toEqual({ name: 'shop', removed: true });
    expect(await state()).toBeUndefined();
  });

  test('a test event is sent at once, and stands in the log of deliveries', async () => {
    const session = await open();
    const stage = await serveMirror(session, { webhooks });
    const receiver = await startReceiver(() => ({ status: 202, body: 'taken' }));
    const { secret } = await jsonOf(await stage.post('/v1/webhooks', { name: 'erp', url: receiver.url }));
    const tested = await stage.post('/v1/webhooks/erp/test');
    const { webhookId } = await jsonOf(tested);
    const [request] = receiver.requests;
    if (request === undefined) throw new Error('no request');
    expect(verified(request, String(secret))).toMatchObject({ type: 'webhook.test' });
    const kept = sql`select webhook_id, state, status, response_start from webhook_deliveries`;
    expect(await session.query(kept)).toMatchObject([
      { webhook_id: webhookId, state: 'delivered', response_start: 'taken' },
    ]);
  });
});

test('what may not be is refused with its code: a private address, a taken or unknown name, an unknown kind', async () => {
  const [, open] = DATABASES[0] ?? [];
  if (open === undefined) throw new Error('no database');
  const stage = await serveMirror(await open());
  await stage.post('/v1/webhooks', { name: 'shop', url: URL_OUTSIDE });
  const add = (body: object): Promise<Response> => stage.post('/v1/webhooks', { name: 'erp', ...body });
  for (const url of ['http://192.0.43.8/', ...REFUSED_URLS.filter((_, index) => index % 9 === 0)])
    expect([url, await codeOf(await add({ url }))]).toEqual([url, [422, 'webhooks.refused']]);
  expect(await codeOf(await add({ name: 'shop', url: URL_OUTSIDE }))).toEqual([409, 'webhooks.name_taken']);
  expect(await codeOf(await add({ url: URL_OUTSIDE, kinds: ['nothing'] }))).toEqual([
    404,
    'record.unknown_kind',
  ]);
  for (const wrong of [{ changes: ['made'] }, { format: 'irc' }, { name: 'a b' }, { secret: 'mine' }])
    expect(await codeOf(await add({ url: URL_OUTSIDE, ...wrong }))).toEqual([400, 'http.invalid_request']);
  for (const decision of ['remove', 'rotate', 'test', 'enable', 'disable', 'replay']) {
    const answer = await stage.post(
      `/v1/webhooks/chop/${decision}`,
      decision === 'replay' ? { after: 0 } : undefined,
    );
    const { detail } = await jsonOf(answer);
    expect([answer.status, detail]).toEqual([404, 'Unknown webhook endpoint chop; did you mean shop?']);
  }
});
