import { sql } from 'drizzle-orm';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { ALL, ONE_DATABASE, MIRRORS, absencesOf, backfillFrom, pullOne, shortEvents } from './steps.ts';
import { liveIds, sandbox } from './support.ts';
import { send, serve } from '../support/serve.ts';

const kind = 'clients';

/** A service behind a gateway that answers by itself what `refuse` gives a status for; `body` rewrites the others. */
async function behindGateway(
  service: Sandbox,
  refuse: (page: number, size: number) => number | null,
  body: (text: string) => string = (text) => text,
): Promise<Sandbox & { readonly asked: string[] }> {
  const asked: string[] = [];
  const url = await serve((incoming, answer) => {
    const path = incoming.url ?? '';
    const { pathname, searchParams } = new URL(path, 'http://x');
    const [page, size] = ['page', 'per_page'].map((name) => Number(searchParams.get(name) ?? 0));
    if (pathname === '/api/clients') asked.push(`${page ?? 0}/${size ?? 0}`);
    const status = pathname === '/api/clients' ? refuse(page ?? 0, size ?? 0) : null;
    if (status !== null) {
      answer.writeHead(status).end('<h1>Gateway</h1>');
      return;
    }
    const headers = { authorization: `Bearer ${service.token}` };
    void request(service.url + path, { headers }).then(async ({ statusCode, body: sent }) => {
      send(answer, body(await sent.text()), statusCode);
    });
  });
  return { ...service, url, asked };
}

const live = async (session: Session): Promise<number> => (await liveIds(session, kind)).length;
const driftOf = async (session: Session, code: string): Promise<unknown[]> =>
  (await session.query(sql`select detail from drift where code = ${code}`)).map(({ detail }) => detail);

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a page that always fails hides no other page, and makes no row a suspect', async () => {
    const honest = await sandbox({ size: 560 });
    let failing = 0;
    const service = await behindGateway(honest, (page) => (page === failing ? 500 : null));
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    expect(await pullOne(service, session, { kind, minute: 1 })).toMatchObject({ state: 'certified' });

    failing = 3;
    const ids = honest.world.ids(kind);
    honest.world.update(kind, ids[520] ?? 0, { city: 'Matane' });
    for (const minute of [20, 40, 60]) {
      const report = await pullOne(service, session, { kind, minute });
      expect(report).toMatchObject({
        state: 'invalid',
        reason: 'page_unread',
        certifiedAt: null,
        deleted: 0,
      });
      expect(report.detail).toContain('page 3 could not be read');
      expect(report.detail).toContain('bms-sync backfill clients --pages 3');
    }
    expect(await shortEvents(session)).toEqual([`${ids[520]} updated`]);
    expect(await absencesOf(session)).toEqual([]);
    expect(await live(session)).toBe(560);

    honest.world.update(kind, ids[250] ?? 0, { city: 'Gaspé' });
    const all = await backfillFrom(service, session, { kind, extent: ALL, minute: 70 });
    expect(all).toMatchObject({ state: 'invalid', reason: 'page_unread', rows: 460 });
    failing = 0;
    const pages = { from: 3, to: 3 };
    const again = await backfillFrom(service, session, { kind, extent: { pages }, minute: 71 });
    expect(again).toMatchObject({ state: 'complete', rows: 100, updated: 1 });
    expect(await pullOne(service, session, { kind, minute: 80 })).toMatchObject({ state: 'certified' });
  });

  test('a gateway that takes no pages above 50 costs a few requests, once a day', async () => {
    const honest = await sandbox({ size: 260 });
    let most = 60;
    const service = await behindGateway(honest, (_, size) => (size > most ? 504 : null));
    const session = await MIRRORS[database]();
    expect(await pullOne(service, session, { kind })).toMatchObject({ state: 'certified', rows: 260 });
    expect([...new Set(service.asked)].slice(0, 3)).toEqual(['1/100', '1/50', '6/50']);

    const asked = async (step: () => Promise<unknown>): Promise<string[]> => {
      service.asked.length = 0;
      await step();
      return [...new Set(service.asked.map((one) => one.slice(one.indexOf('/') + 1)))];
    };
    const pull = (minute: number) => asked(() => pullOne(service, session, { kind, minute }));
    const pages = { from: 2, to: 2 };
    const fill = (minute: number) => backfillFrom(service, session, { kind, extent: { pages }, minute });
    expect(await pull(60)).toEqual(['50']);
    expect(await asked(() => fill(61))).toEqual(['50']);
    expect(await asked(() => fill(1500))).toEqual(['50']); // Page 2 is that of the latest sweep.
    expect(await pull(1501)).toEqual(['100', '50']);
    expect(await pull(1560)).toEqual(['50']);
    most = 100;
    expect(await pull(3000)).toEqual(['100']);
    expect(await pull(3001)).toEqual(['100']);
    expect(await live(session)).toBe(260);
    expect(await shortEvents(session)).toEqual([]);
  });

  test('a list in an object whose keys are numbers lands like any other, and is drift', async () => {
    const honest = await sandbox({ size: 260 });
    let isObject = true;
    const service = await behindGateway(
      honest,
      () => null,
      (text) => (isObject ? asPhpObject(text) : text),
    );
    const session = await MIRRORS[database]();
    expect(await pullOne(service, session, { kind })).toMatchObject({ rows: 260, quarantined: 0 });
    expect(await driftOf(session, 'envelope')).toHaveLength(1);
    const contacts = sql`select count(*) as n from client_contacts`;
    const [{ n: before } = {}] = await session.query(contacts);
    expect(Number(before)).toBeGreaterThan(0);
    expect(await pullOne(service, session, { kind, minute: 1 })).toMatchObject({
      state: 'certified',
      updated: 0,
    });
    expect(await driftOf(session, 'envelope')).toHaveLength(1);
    isObject = false;
    expect(await pullOne(service, session, { kind, minute: 2 })).toMatchObject({
      state: 'certified',
      updated: 0,
    });
    expect(await driftOf(session, 'envelope')).toHaveLength(2);
    expect((await session.query(contacts))[0]).toEqual({ n: before });
    expect(await session.query(sql`select code from issues where code = 'not_an_array'`)).toEqual([]);
    expect(await shortEvents(session)).toEqual([]);
  });
});

/** As PHP encodes arrays of records that have lost their first item, on the list and in its records. */
function asPhpObject(text: string): string {
  const php = (list: unknown[]) => Object.fromEntries(list.map((item, at) => [String(at + 1), item]));
  const revive = (_: string, value: unknown): unknown =>
    Array.isArray(value) && value.length > 0 && typeof value[0] === 'object' ? php(value) : value;
  return JSON.stringify(JSON.parse(text, revive));
}
