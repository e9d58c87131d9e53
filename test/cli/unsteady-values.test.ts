// cspell:ignore chaque balayage plupart
import { createServer } from 'node:http';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { addEndpoint } from '../../src/events/webhooks/endpoints.ts';
import { causeText } from '../../src/features/notify/notification-text.ts';
import { parse } from 'yaml';
import { ONE_DATABASE, mirrorIn } from '../events/support.ts';
import { serveMirror } from '../http/stage.ts';
import { canary } from '../support/canary.ts';
import { document, kindIn, run, type Env } from '../support/command-line.ts';
import { listening } from '../support/listening.ts';

type Client = Readonly<Record<string, unknown>> & { readonly id: number };

const A_PAGE = 10;

/** A service that lists these clients, ten a page, as they are at each request. */
function serviceOf(list: () => readonly Client[]) {
  return createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
    const clients = list();
    const texts = clients.slice((page - 1) * A_PAGE, page * A_PAGE).map(({ raw, ...client }) => {
      const text = JSON.stringify(client);
      return typeof raw === 'string' ? `${text.slice(0, -1)},${raw}}` : text;
    });
    const last = Math.ceil(clients.length / A_PAGE);
    const meta = { current_page: page, last_page: last, per_page: A_PAGE, total: clients.length };
    response.setHeader('content-type', 'application/json');
    response.end(`{"data":[${texts.join(',')}],"meta":${JSON.stringify(meta)}}`);
  });
}

const clients = (count: number, more: (id: number) => object = () => ({})): readonly Client[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, code: `C${at + 1}`, ...more(at + 1) }));

const envFor = (url: string, database: string): Env => ({
  BMS_BASE_URL: url,
  BMS_TOKEN: canary('of-the-service'),
  DATABASE_URL: database,
});

const eventsIn = async (session: Session): Promise<number> =>
  Number((await session.query(sql`select count(*) as n from changes`))[0]?.['n']);

describe.each(ONE_DATABASE)('%s: a field that changes in most rows', (database) => {
  test('of two sweeps running needs a person, who gets the line that silences it, in status, pages, notifications', async () => {
    let reads = 0;
    await using service = await listening(
      serviceOf(() => {
        reads++;
        return clients(30, (id) => ({
          photo: `https://x/${id}?signed=${reads}`,
          fax: `${id % 3 === 0 ? reads : 1}`,
        }));
      }),
    );
    const { url, session } = await mirrorIn(database);
    const wish = {
      kinds: null,
      changes: null,
      fields: null,
      name: 'room',
      url: 'http://127.0.0.1/',
      format: 'slack',
    } as const;
    await addEndpoint(session, wish, { allowHosts: ['127.0.0.1'], now: new Date() });
    const env = { ...envFor(service.url, url), BMS__DIFF__IGNORE_FIELDS: '{"clients":["fax"]}' };
    const drift = () => session.query(sql`select kind, code, field from drift where code = 'volatile_field'`);

    await run(['pull', 'clients'], env);
    await run(['pull', 'clients'], env);
    expect(await drift()).toEqual([]);
    expect(document(await run(['status', '--json'], env))).toMatchObject({ volatile: null });
    await run(['pull', 'clients'], env);
    await run(['pull', 'clients'], env);

    expect(await drift()).toEqual([{ kind: 'clients', code: 'volatile_field', field: 'photo' }]);
    const setting = 'diff: { ignoreFields: { clients: ["fax","photo"] } }';
    expect(parse(setting)).toEqual({ diff: { ignoreFields: { clients: ['fax', 'photo'] } } });
    const status = await run(['status'], env);
    expect(status.stdout).toContain(
      `Needs you: 1 field changes with every sweep. Most records have a new value in each sweep, and each is an event: clients.photo. Add to the settings: ${setting}`,
    );
    expect(document(await run(['status', '--json'], env))).toMatchObject({
      volatile: { fields: ['clients.photo'], setting },
    });
    const [counts] = await session.query(
      sql`select body from webhook_deliveries where type = 'field.volatile'`,
    );
    const reader = { timezone: 'UTC', publicUrl: null };
    const stage = await serveMirror(session);
    for (const [language, title] of [
      ['en', '1 field changes with every sweep'],
      ['fr', '1 champ change à chaque lecture'],
    ] as const) {
      const { headline, lines } = causeText(
        [{ type: 'field.volatile', body: String(counts?.['body']), names: [], changes: [] }],
        { ...reader, language },
      );
      expect(headline).toBe(title);
      expect(lines.join(' ')).toContain(setting);
      const page = await (await stage.get('/', { 'accept-language': language })).text();
      expect(page).toContain(title);
      expect(page).toContain(setting.replaceAll('"', '&quot;'));
    }

    const events = await eventsIn(session);
    const silenced = { ...env, BMS__DIFF__IGNORE_FIELDS: '{"clients":["fax","photo"]}' };
    await run(['pull', 'clients'], silenced);
    expect(await eventsIn(session)).toBe(events);
    expect(document(await run(['status', '--json'], silenced))).toMatchObject({ volatile: null });
  });

  test('is none where fewer than twenty rows are listed, or half of them change, or it changes once', async () => {
    let reads = 0;
    let count = 19;
    let isMost = (id: number): boolean => id > 0;
    let others = 'Québec';
    await using service = await listening(
      serviceOf(() => {
        reads++;
        return clients(count, (id) => ({ city: isMost(id) ? `${reads}` : others }));
      }),
    );
    const { url, session } = await mirrorIn(database);
    const env = envFor(service.url, url);
    const pulls = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++)
        expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
    };
    await pulls(4);
    count = 40;
    isMost = (id) => id <= 20;
    await pulls(4);
    isMost = () => false;
    others = 'Montréal'; // Once.
    await pulls(3);
    expect(await session.query(sql`select * from drift where code = 'volatile_field'`)).toEqual([]);
  });
});

describe.each(ONE_DATABASE)('%s: another spelling of a value', (database) => {
  test.each([
    ['a text composed otherwise', { name: 'Zénobie'.normalize('NFC') }, { name: 'Zénobie'.normalize('NFD') }],
    [
      'one inside a list',
      { contacts: [{ id: 1, nom: 'é' }] },
      { contacts: [{ id: 1, nom: 'é'.normalize('NFD') }] },
    ],
    ['an undocumented text', { mood: 'é' }, { mood: 'é'.normalize('NFD') }],
    ['the noise of a float', { raw: '"credit":0.10' }, { raw: '"credit":0.1000000000001' }],
    ['noise below the amount', { raw: '"credit":"10.1"' }, { raw: '"credit":"10.09999999999999787"' }],
    ['noise in an undocumented number', { raw: '"odd":0.3' }, { raw: '"odd":0.30000000000000004' }],
  ])('makes no event: %s', async (_, one, other) => {
    let more: object = one;
    await using service = await listening(serviceOf(() => clients(3, () => more)));
    const { url, session } = await mirrorIn(database);
    const env = envFor(service.url, url);
    for (const next of [one, other, one, other]) {
      more = next;
      expect(kindIn(await run(['pull', 'clients', '--json'], env), 'clients')).toMatchObject({
        state: 'certified',
        updated: 0,
      });
    }
    expect(await eventsIn(session)).toBe(0);
    expect(await run(['verify', 'clients'], env)).toMatchObject({ code: 0 });
  });

  test.each([
    ['a cent', { raw: '"credit":0.10' }, { raw: '"credit":0.11' }],
    [
      'a cent of ten thousand million',
      { raw: '"credit":12345678901.23' },
      { raw: '"credit":12345678901.24' },
    ],
    ['the twelfth digit', { raw: '"credit":1.00000000001' }, { raw: '"credit":1.00000000002' }],
    ['another letter', { name: 'Zénobie' }, { name: 'Zenobie' }],
    ['a long code', { code: '1234567890123' }, { code: '1234567890124' }],
  ])('is none: %s', async (_, one, other) => {
    let more: object = one;
    await using service = await listening(serviceOf(() => clients(1, () => more)));
    const { url } = await mirrorIn(database);
    const env = envFor(service.url, url);
    await run(['pull', 'clients'], env);
    more = other;
    expect(kindIn(await run(['pull', 'clients', '--json'], env), 'clients')).toMatchObject({ updated: 1 });
  });
});

describe.each(ONE_DATABASE)('%s: one id on two pages', (database) => {
  test('is an issue until one page shows it, whether its contents agree or not', async () => {
    let list: readonly Client[] = [...clients(24), { id: 3, code: 'C3' }, { id: 4, code: 'another' }];
    await using service = await listening(serviceOf(() => list));
    const { url, session } = await mirrorIn(database);
    const env = envFor(service.url, url);
    const open = () =>
      session.query(
        sql`select record_id, detail from issues where code = 'on_two_pages' and closed_at is null order by record_id`,
      );
    for (let pull = 0; pull < 3; pull++)
      expect(kindIn(await run(['pull', 'clients', '--json'], env), 'clients').state).toBe('complete');
    expect(await open()).toEqual([
      { record_id: '3', detail: 'pages 1, 3' },
      { record_id: '4', detail: 'pages 1, 3' },
    ]);

    list = clients(24);
    await run(['pull', 'clients'], env);
    expect(await open()).toEqual([]);
  });
});
