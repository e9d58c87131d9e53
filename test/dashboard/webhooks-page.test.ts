import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session, SqlValue } from '../../src/db/session/session.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON_TEXT } from '../store/temp-mirror.ts';
import { DEFAULTS, serveMirror, signIn, type Stage } from '../http/stage.ts';

const ROOM = 'https://hooks.slack.example/services/T0/B0/room-secret';

/** An endpoint that works, one that fails, one that was disabled, and one that the settings no longer name. */
async function addEndpoints(session: Session): Promise<void> {
  const put = (columns: readonly string[], ...rows: readonly (readonly SqlValue[])[]): Promise<void> =>
    session.atomically((tx) => tx.insertRows({ table: 'webhook_endpoints', columns, rows }));
  const columns = ['name', 'public_id', 'url', 'format', 'cursor', 'state', 'disabled_reason'];
  await put(
    [...columns, 'failures', 'failing_since', 'failing_told_at'],
    ['well', 'p1', 'https://example.com/in?key=url-secret', 'json', 0, 'active', null, 0, null, null],
    ['weak', 'p2', 'https://example.com/', 'json', 0, 'active', null, 3, NOON_TEXT, NOON_TEXT],
    ['room', 'p3', ROOM, 'slack', 0, 'disabled', 'gone', 1, NOON_TEXT, null],
  );
}

const actionsOf = (page: string): (string | undefined)[] =>
  [...page.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action);

const pageOf = async ({ get }: Stage, path: string): Promise<string> => (await get(path)).text();

async function submit(stage: Stage, path: string, origin = stage.url, fields = {}): Promise<Response> {
  const headers = { cookie: await signIn(stage), origin };
  const body = new URLSearchParams({ back: '/webhooks', ...fields });
  return fetch(stage.url + path, { method: 'POST', body, headers, redirect: 'manual' });
}

const stateOf = async (session: Session, name: string): Promise<Row | undefined> => {
  const columns = sql`select state, disabled_reason, failures, replay_after from webhook_endpoints`;
  return (await session.query(sql`${columns} where name = ${name}`))[0];
};

describe.each(ONE_DATABASE)('the page of webhooks of a mirror in %s', (_name, open) => {
  test('says how many deliveries there are, of all endpoints and of one', async () => {
    const session = await open();
    await addEndpoints(session);
    const columns = ['endpoint_id', 'webhook_id', 'type', 'state', 'attempts', 'created_at'];
    const rows = Array.from({ length: 61 }, (_none, at) => [
      at < 9 ? 2 : 1,
      `w${at}`,
      'record.updated',
      'delivered',
      1,
      NOON_TEXT,
    ]);
    await session.atomically((tx) => tx.insertRows({ table: 'webhook_deliveries', columns, rows }));
    const stage = await serveMirror(session);
    expect(await pageOf(stage, '/webhooks')).toContain('61 in all');
    expect(await pageOf(stage, '/webhooks?endpoint=well')).toContain('52 in all');
    expect(await pageOf(stage, '/webhooks?endpoint=weak')).not.toContain('in all');
  });

  test('has the decisions on each endpoint, and no address that is a secret', async () => {
    const session = await open();
    await addEndpoints(session);
    const stage = await serveMirror(session);
    const page = await pageOf(stage, '/webhooks');
    expect(actionsOf(page)).toEqual([
      '/webhooks/room/enable',
      '/webhooks/room/replay',
      '/webhooks/room/test',
      '/webhooks/weak/replay',
      '/webhooks/weak/disable',
      '/webhooks/weak/test',
      '/webhooks/well/disable',
      '/webhooks/well/test',
      '/webhooks',
    ]);
    for (const shown of ['https://hooks.slack.example/…', 'https://example.com/in?…'])
      expect(page).toContain(shown);
    for (const secret of ['room-secret', 'url-secret']) expect(page).not.toContain(secret);
    const calm = await pageOf(await serveMirror(session, { token: null }), '/webhooks');
    expect(actionsOf(calm)).toEqual([]);
    expect(calm).toContain('https://example.com/…'); // A viewer.
    expect(calm).not.toContain('https://example.com/in');
  });

  test('shows the form of a refused receiver again, as it was filled in', async () => {
    const stage = await serveMirror(await open());
    const typed = { name: 'my room', format: 'slack', url: 'https://chat.example/in' };
    for (const [fields, status, why] of [
      [typed, 400, /name: expected a name/],
      [{ ...typed, name: 'room', url: 'http://chat.example/in' }, 422, /it is not https/],
    ] as const) {
      const answer = await submit(stage, '/webhooks', stage.url, fields);
      const page = (await answer.text()).replaceAll(/\s+/g, ' ');
      expect([answer.status, page]).toEqual([status, expect.stringMatching(why)]);
      for (const value of [fields.name, fields.url]) expect(page).toContain(`value="${value}"`);
      expect(page).toMatch(/<option value="slack" selected ?>/);
    }
    expect(await (await stage.get('/webhooks/room/test', { accept: 'text/html' })).text()).toContain(
      'href="/webhooks"',
    );
  });

  test('carries out a decision, says so, and the endpoint no longer needs anybody', async () => {
    const session = await open();
    await addEndpoints(session);
    const stage = await serveMirror(session);
    expect(await pageOf(stage, '/')).toMatch(/The endpoint room is disabled[^]*The endpoint weak accepts no/);
    const answers = [
      await submit(stage, '/webhooks/room/enable'),
      await submit(stage, '/webhooks/weak/disable'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [303, '/webhooks?done=webhooks%20enable'],
      [303, '/webhooks?done=webhooks%20disable'],
    ]);
    expect(await stateOf(session, 'room')).toMatchObject({ state: 'active', failures: 1 });
    expect(await stateOf(session, 'weak')).toMatchObject({
      state: 'disabled',
      disabled_reason: 'by_a_person',
    });
    expect(await pageOf(stage, '/webhooks?done=webhooks%20disable')).toContain(
      'Disabled: nothing is sent until',
    );
    const overview = await pageOf(stage, '/');
    expect(overview).toContain('Nothing needs you');
    expect(overview).not.toContain('The endpoint');
    const replayed = await submit(stage, '/webhooks/weak/replay');
    expect(replayed.headers.get('location')).toBe('/webhooks?done=webhooks%20replay%200');
    expect(await pageOf(stage, '/webhooks?done=webhooks%20replay%201')).toContain('1 event is sent again.');
    expect(await stateOf(session, 'weak')).toMatchObject({ state: 'active', replay_after: 0 });
    expect(stage.wakes()).toBe(3);
  });

  test('adds a receiver, whose secret is shown this once and only where it is checked, and tests it', async () => {
    const session = await open();
    const webhooks = {
      ...DEFAULTS.webhooks,
      allowHosts: ['127.0.0.1'],
      mail: { url: 'smtp://x', from: null },
    };
    const stage = await serveMirror(session, { webhooks });
    const add = async (fields: object): Promise<string> =>
      (await submit(stage, '/webhooks', stage.url, { language: 'fr', ...fields })).text();
    const erp = { name: 'erp', format: 'json', url: 'http://127.0.0.1:1/in' };
    expect(await add(erp)).toMatch(/erp was added[^]*value="whsec_/);
    expect(await add({ name: 'anna', format: 'email', url: 'anna@garage.example' })).toContain(
      'anna was added.',
    );
    const page = await pageOf(stage, '/webhooks');
    expect(page).toMatch(/mailto:anna@garage\.example[^]*Add a receiver/);
    expect(page).not.toContain('whsec_');
    expect(await add({ ...erp, name: 'e r p' })).toContain('letters, digits');
    const tested = await submit(stage, '/webhooks/erp/test');
    expect([tested.status, await tested.text()]).toEqual([
      200,
      expect.stringContaining('erp has not accepted the test: '),
    ]);
  });

  test('decides nothing for a page of another origin, and nothing about an unknown endpoint', async () => {
    const session = await open();
    await addEndpoints(session);
    const stage = await serveMirror(session);
    for (const decision of ['enable', 'disable', 'replay'])
      expect((await submit(stage, `/webhooks/room/${decision}`, 'https://evil.example')).status).toBe(403);
    expect(await stateOf(session, 'room')).toMatchObject({ state: 'disabled', disabled_reason: 'gone' });
    const absent = await submit(stage, '/webhooks/roam/enable');
    expect([absent.status, await absent.text()]).toEqual([
      404,
      expect.stringContaining('Unknown webhook endpoint roam; did you mean room?'),
    ]);
  });
});
