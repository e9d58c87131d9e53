import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../../src/db/open-session.ts';
import { ONE_DATABASE, mirrorIn, putChanges } from '../../events/support.ts';
import { startReceiver, verified } from '../../events/webhooks/receiver.ts';
import { REFUSED_URLS } from '../../lib/net/addresses.ts';
import { NOON_JSON } from '../../store/temp-mirror.ts';
import { document, run, type Ended, type Env } from '../../support/command-line.ts';
import { freshMirror } from '../../support/temp-folder.ts';

const INSIDE: Env = { BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };
const SECRET = /^whsec_[\w+/]{43}=$/;

type Hooks = (...argv: readonly string[]) => Promise<Ended>;

/** The command over a mirror; `more` are further settings. */
const hooksOf =
  (url: string, more: Env = {}): Hooks =>
  (...argv) =>
    run(['webhooks', ...argv], { DATABASE_URL: url, ...INSIDE, ...more });

interface Revealed {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
}

const added = async (hooks: Hooks, ...argv: readonly string[]): Promise<Revealed> =>
  document(await hooks('add', ...argv, '--json')) as Revealed;

const faultIn = (ended: Ended): unknown =>
  (document(ended) as { readonly error: { readonly code: string } }).error.code;

describe.each(ONE_DATABASE)('webhooks on %s', (database) => {
  test('add shows a secret that no other command shows', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    const receiver = await startReceiver();
    const { secret, ...rest } = await added(hooks, receiver.url, '--name', 'erp', '--kinds', 'clients');
    expect(rest).toEqual({ name: 'erp', url: receiver.url });
    expect(secret).toMatch(SECRET);
    const others = [
      await hooks(),
      await hooks('list'),
      await hooks('list', '--json'),
      await hooks('test', 'erp'),
      await hooks('test', 'erp', '--json'),
      await hooks('replay', 'erp', '--after', '0'),
      await hooks('remove', 'erp', '--json'),
    ];
    expect(others.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(JSON.stringify(others)).not.toContain(secret);
  });

  test('add refuses an e-mail receiver where SMTP_URL is not set, and stores nothing', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    const refused = await hooks('add', 'mailto:anna@garage.example', '--name', 'anna', '--format', 'email');
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('Set SMTP_URL');
    expect(document(await hooks('list', '--json'))).toEqual({ endpoints: [] });
  });

  test('add names the format that an e-mail address needs', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    const refused = await hooks('add', 'mailto:anna@garage.example', '--name', 'anna');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('mailto:… needs the format email');
  });

  test('test names the one cause of a letter that could not be sent', async () => {
    const { url } = await mirrorIn(database);
    const withMail = {
      BMS_BASE_URL: 'https://bms.example',
      DATABASE_URL: url,
      SMTP_URL: 'smtp://127.0.0.1:1',
      BMS__MAIL__FROM: 'bms@b.example',
    };
    const added = await run(
      ['webhooks', 'add', 'mailto:a@b.example', '--name', 'a', '--format', 'email'],
      withMail,
    );
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Added: a gets notifications/) as string,
    });
    expect((await run(['webhooks', 'test', 'a'], withMail)).stdout).toMatch(
      /^Delivery to a failed: it could not be reached \(ECONNREFUSED\)\.\n/,
    );
    expect((await hooksOf(url)('test', 'a')).stdout).toMatch(
      /^Delivery to a failed: SMTP_URL is not set\.\n/,
    );
  });

  test('the address of a chat room is never shown: it is its secret', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    for (const format of ['slack', 'teams', 'text'])
      await added(hooks, `http://127.0.0.1:9/hooks/${format}-key`, '--name', format, '--format', format);
    const { stdout } = await hooks('list', '--json');
    expect(stdout).toContain('http://127.0.0.1:9/…');
    expect(stdout).not.toContain('-key');
  });

  test('list has each endpoint with its filter, its standing and what waits', async () => {
    const { url, session } = await mirrorIn(database);
    const hooks = hooksOf(url);
    expect(document(await hooks('list', '--json'))).toEqual({ endpoints: [] });
    expect((await hooks('list')).stdout).toContain('No webhook endpoints');
    await putChanges(session, { record_id: '1', change: 'created', observed_at: '2026-03-01 12:00:00.000' });
    const narrow = ['--kinds', 'clients, products', '--changes', 'created,deleted', '--fields', 'code'];
    await added(hooks, 'https://192.0.43.8/in?key=url-secret', '--name', 'shop', ...narrow);
    await added(hooks, 'https://192.0.43.8/room/secret', '--name', 'room', '--format', 'slack');
    const misspelt = ['--name', 'x', '--kinds', 'clients', '--fields', 'code,adress'];
    expect(await hooks('add', 'https://192.0.43.8/x', ...misspelt)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'Unknown field "adress"; did you mean address?\nbms-sync kinds clients lists its fields',
      ) as string,
    });
    const { endpoints } = document(await hooks('--json')) as { readonly endpoints: readonly object[] };
    const standing = {
      state: 'active',
      health: 'healthy',
      disabledReason: null,
      failures: 0,
      failingSince: null,
      notBefore: null,
      cursor: 1,
      replayAfter: null,
      pending: 0,
      pendingSince: null,
      nextAttemptAt: null,
      deliveredAt: null,
      createdAt: expect.any(String) as string,
    };
    const all = { kinds: null, changes: null, fields: null };
    const filter = { kinds: ['clients', 'products'], changes: ['created', 'deleted'], fields: ['code'] };
    expect(endpoints).toEqual([
      { name: 'room', url: 'https://192.0.43.8/…', ...all, format: 'slack', language: null, ...standing },
      {
        name: 'shop',
        url: 'https://192.0.43.8/in?…',
        ...filter,
        format: 'json',
        language: null,
        ...standing,
      },
    ]);
    const { stdout } = await hooks();
    expect(stdout).toMatch(/room +healthy[^]*shop +healthy +\S+ +clients,products +created,deleted +code/);
    expect(stdout).not.toContain('secret');
  });

  test('rotate, replay and remove answer with one document each, and ask for a name that is known', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    const { secret, url } = await added(hooks, 'https://192.0.43.8/in', '--name', 'shop');
    const rotated = document(await hooks('rotate', 'shop', '--json')) as Revealed;
    expect(rotated).toEqual({ name: 'shop', url, secret: expect.stringMatching(SECRET) as string });
    expect(rotated.secret).not.toBe(secret);
    expect((await hooks('rotate', 'shop')).stdout).toMatch(/not shown again:\nwhsec_/);
    expect(document(await hooks('replay', 'shop', '--after', '7', '--json'))).toEqual({
      name: 'shop',
      after: 7,
      events: 0,
    });
    expect((await hooks('replay', 'shop')).stdout).toBe('Events to send: 0.\n');
    for (const argv of [['rotate'], ['replay', '--after', '0'], ['test'], ['remove']]) {
      const [command = '', ...options] = argv;
      const ended = await hooks(command, 'chop', ...options, '--json');
      expect([command, ended.code, faultIn(ended)]).toEqual([command, 1, 'webhooks.absent']);
      expect(ended.stderr).toContain('Unknown webhook endpoint chop; did you mean shop?');
    }
    expect(document(await hooks('remove', 'shop', '--json'))).toEqual({ name: 'shop', removed: true });
    expect(document(await hooks('list', '--json'))).toEqual({ endpoints: [] });
  });

  test('status tells of endpoints that take nothing, and of none that a person has disabled', async () => {
    const { url, session } = await mirrorIn(database);
    const env = { DATABASE_URL: url, ...INSIDE };
    const hooks = hooksOf(url);
    for (const name of ['gone', 'off', 'well', 'weak'])
      await added(hooks, 'https://192.0.43.8/', '--name', name);
    const since = '2026-03-01 12:00:00.000';
    await session.atomically(async (tx) => {
      const fails = sql`update webhook_endpoints set failing_since = ${since}`;
      await tx.query(sql`${fails}, state = 'disabled', disabled_reason = 'failing' where name = 'gone'`);
      await tx.query(sql`${fails}, state = 'disabled', disabled_reason = 'by_a_person' where name = 'off'`);
      await tx.query(sql`${fails}, failing_told_at = ${since} where name = 'weak'`);
    });
    expect(document(await run(['status', '--json'], env))).toMatchObject({
      failingEndpoints: [
        { name: 'gone', health: 'disabled', reason: 'failing', since: NOON_JSON },
        { name: 'weak', health: 'failing', reason: null, since: NOON_JSON },
      ],
    });
    const { stdout } = await run(['status'], env);
    expect(stdout).toContain(
      `Needs you: The endpoint gone is disabled. No delivery accepted for five days. Since 2026-03-01 12:00:00 UTC. (bms-sync webhooks)`,
    );
    expect(stdout).toContain('Needs you: The endpoint weak accepts no deliveries. ');
    expect(stdout).not.toMatch(/endpoint (?:off|well)/);
  });

  test('test sends one event, and says by its exit code whether it was taken', async () => {
    const hooks = hooksOf((await mirrorIn(database)).url);
    let status = 204;
    const receiver = await startReceiver(() => ({ status, body: 'thanks' }));
    const { secret } = await added(hooks, receiver.url, '--name', 'erp');
    const taken = await hooks('test', 'erp', '--json');
    expect([taken.code, document(taken)]).toEqual([
      0,
      {
        name: 'erp',
        state: 'active',
        webhookId: receiver.requests[0]?.id,
        delivered: true,
        status: 204,
        error: null,
        responseStart: '',
        durationMs: expect.any(Number) as number,
      },
    ]);
    const [request] = receiver.requests;
    if (request === undefined) throw new Error('no request');
    expect(verified(request, secret)).toMatchObject({ type: 'webhook.test', data: { endpoint: 'erp' } });
    status = 503;
    const refused = await hooks('test', 'erp', '--json');
    expect([refused.code, document(refused)]).toMatchObject([
      1,
      { delivered: false, status: 503, responseStart: 'thanks' },
    ]);
    expect(await hooks('test', 'erp')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^Delivery to erp failed: it answered 503\.\nThis command sent it.*\n$/,
      ) as string,
    });
  });
});

const OUTSIDE: readonly string[] = [
  'http://example.com/',
  'https://example.com:8443/',
  ...REFUSED_URLS.filter((_, index) => index % 9 === 0),
];

test(`an address inside, and whatever is no public https URL, is a wrong setting: exit 2, and nothing is stored`, async () => {
  const url = freshMirror();
  const strict: Env = { BMS__WEBHOOKS__ALLOW_HOSTS: '[]' };
  const hooks = hooksOf(`file:${url}`, strict);
  await added(hooks, 'https://192.0.43.8/', '--name', 'kept');
  for (const target of OUTSIDE) {
    const ended = await hooks('add', '--name', 'erp', '--json', '--', target);
    expect([target, ended.code, faultIn(ended)]).toEqual([target, 2, 'webhooks.refused']);
  }
  await using session = await openSession(`file:${url}`);
  const { endpoints } = document(await hooks('list', '--json')) as { readonly endpoints: readonly object[] };
  expect([endpoints.length, session.dialect]).toEqual([1, 'sqlite']);
});

test.each([
  [['add', 'https://192.0.43.8/'], 'usage', '--name'],
  [['add', 'https://192.0.43.8/', '--name', 'a b'], 'usage.input', 'letters, digits, _ and -'],
  [
    ['add', 'https://192.0.43.8/', '--name', 'x', '--kinds', 'cleints'],
    'record.unknown_kind',
    'did you mean clients',
  ],
  [
    ['add', 'https://192.0.43.8/', '--name', 'x', '--changes', 'upated'],
    'usage.input',
    'created, updated, deleted, restored, entry.done; did you mean updated?',
  ],
  [
    [
      ...['add', 'https://192.0.43.8/', '--name', 'x'],
      ...['--changes', 'created,updated,deleted,restored,entry.done,entry.parked'],
    ],
    'usage.input',
    'expected one of created, updated, deleted, restored, entry.done',
  ],
  [['add', 'https://192.0.43.8/', '--name', 'x', '--format', 'irc'], 'usage', 'slack'],
])('%j is a mistake of usage', async (argv, code, message) => {
  const ended = await hooksOf(`file:${freshMirror()}`)(...argv, '--json');
  expect([ended.code, faultIn(ended)]).toEqual([2, code]);
  expect(ended.stdout + ended.stderr).toContain(message);
});

test('a name that is taken is refused', async () => {
  const hooks = hooksOf(`file:${freshMirror()}`);
  await added(hooks, 'http://127.0.0.1:9/', '--name', 'erp');
  const again = await hooks('add', 'http://127.0.0.1:9/', '--name', 'erp', '--json');
  expect([again.code, faultIn(again)]).toEqual([1, 'webhooks.name_taken']);
});
