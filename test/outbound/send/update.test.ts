import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { readHistory } from '../../../src/outbound/decisions/entry-list.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { checkRequests, storeChecked } from '../../../src/outbound/intake/intake.ts';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { memoryLog } from '../../runs/engine/support.ts';
import { asked, enter, opened, spoil, update, textOf, type Opening, type Stage } from '../stage.ts';

interface Scene {
  readonly on: Stage;
  /** The record's id, as text and as the sandbox has it. */
  readonly client: string;
  readonly number: number;
}

async function scene(opening: Opening = {}): Promise<Scene> {
  const on = await opened(opening);
  const client = await on.firstId('clients');
  return { on, client, number: Number(client) };
}

/** Bodies of the writes, as the journal has them. */
async function bodies(on: Stage): Promise<unknown[]> {
  const rows = await on.rows(sql`select request from outbox_attempts order by outbox_id, n`);
  return rows.map(({ request }) => JSON.parse(String(request).split('\n')[1] ?? '') as unknown);
}

const resultOf = async (on: Stage, id: number): Promise<unknown> =>
  JSON.parse((await on.entry(id)).result ?? 'null');

describe('an update', () => {
  test('sends only what changes and leaves one event of its own, at once', async () => {
    const { on, client, number } = await scene();
    on.service.world.update('clients', number, { term: 45 });
    await on.pull('clients');
    const seen = (await on.events()).length;
    const id = await on.send(update(client, { name: 'Autre nom', term: 45 }));
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1, owner: null });
    expect(await bodies(on)).toEqual([{ name: 'Autre nom' }]);
    expect((await on.events()).slice(seen)).toEqual([`${client} updated outbox:${id}`]);
    await on.pull('clients');
    await on.pull('clients');
    expect((await on.events()).slice(seen)).toEqual([`${client} updated outbox:${id}`]);
  });

  test('E01: that meets somebody else’s change of the same field is parked with all three values', async () => {
    const { on, client, number } = await scene();
    on.service.world.update('clients', number, { name: 'Theirs' });
    const id = await on.send({ ...update(client, { name: 'Ours', term: 7 }), base: { name: 'Before' } });
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'conflict', attempts: 0 });
    const conflicts = [{ field: 'name', base: 'Before', remote: 'Theirs', wanted: 'Ours' }];
    expect(await resultOf(on, id)).toEqual({ conflicts });
    expect(asked(on, 'PUT')).toEqual([]);
  });

  test('whose answer is lost is done without a second write', async () => {
    const { on, client } = await scene();
    spoil(on, 'PUT', { drop: 'after' }, { times: 1 });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1 });
    expect(asked(on, 'PUT')).toHaveLength(1);
    expect(await on.events()).toEqual([`${client} updated outbox:${id}`]);
  });

  test('E02: tells of what else changed meanwhile, and leaves it to the service', async () => {
    const { on, client, number } = await scene();
    on.service.world.update('clients', number, { city: 'Elsewhere' });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    expect(await on.events()).toEqual([`${client} updated service`, `${client} updated outbox:${id}`]);
    const [first, second] = await on.rows(sql`select fields, before, after from changes order by seq`);
    expect(Object.keys(JSON.parse(String(first?.['fields'])) as object)).toEqual(['city']);
    expect(Object.keys(JSON.parse(String(second?.['fields'])) as object)).toEqual(['name']);
    expect(first?.['after']).toBe(second?.['before']);
  });
});

describe('a field', () => {
  test('E05: that the service ignores parks the update after two rounds', async () => {
    const { on, client } = await scene();
    spoil(on, 'PUT', { ignoreFields: ['name'] });
    const id = await on.send(update(client, { name: 'Autre nom', term: 12 }));
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'not_applied', attempts: 1 });
    await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_applied', attempts: 2 });
    expect(await bodies(on)).toEqual([{ name: 'Autre nom', term: 12 }, { name: 'Autre nom' }]);
    expect(await resultOf(on, id)).toMatchObject({ fields: [{ field: 'name', wanted: 'Autre nom' }] });
    await on.pass(10_000);
    expect(asked(on, 'PUT')).toHaveLength(2);
  });

  test('that two accepted writes leave out parks it, not the faults between and before them', async () => {
    const { on, client } = await scene();
    const put = { kind: 'clients', method: 'PUT' } as const;
    const faults: readonly FaultAction[] = [{ html: true }, { status: 500 }, { drop: 'before' }];
    on.service.setFaults([
      ...faults.map((action) => ({ on: put, times: 1, do: action })),
      { on: put, do: { ignoreFields: ['name'] } },
    ]);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    for (const verdict of ['no_answer', 'no_answer', 'no_answer', 'not_applied']) {
      expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict });
      await on.pass(600);
    }
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_applied', attempts: 5 });
    expect(await on.grades(id)).toEqual([
      ...Array<string>(3).fill('ambiguous'),
      'not_applied',
      'not_applied',
    ]);
  });

  test.each<[string, FaultAction]>([
    ['Un  nom   espacé', { storesText: 'spaces' }],
    ['Un nom beaucoup trop long pour la colonne', { storesText: 'first20' }],
  ])('E06: whose text %j the service keeps in its own form is taken as done, once', async (name, action) => {
    const { on, client } = await scene();
    spoil(on, 'PUT', action);
    const id = await on.send(update(client, { name }));
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1 });
    expect(await resultOf(on, id)).toMatchObject({ normalized: [{ field: 'name', wanted: name }] });
  });

  test('that empties fields which it does not name is told once for each kind', async () => {
    const log = memoryLog();
    const on = await opened({ parts: { logger: log.logger } });
    const { world } = on.service;
    const write = world.update.bind(world);
    Object.assign(world, {
      update: (kind: string, id: number, fields: JsonObject) =>
        write(kind, id, { ...fields, phone: '', city: null }),
    });
    const ids = on.service.world.ids('clients').slice(0, 2).map(String);
    for (const client of ids) {
      write('clients', Number(client), { phone: '514', city: 'Hull' });
      await on.send(update(client, { name: `Autre nom ${client}` }));
    }
    const found = log.lines.filter(({ event }) => event === 'drift.found');
    expect(found).toMatchObject([{ kind: 'clients', code: 'update_replaces' }]);
    expect(await on.rows(sql`select kind, detail from drift where code = 'update_replaces'`)).toEqual([
      { kind: 'clients', detail: 'city, phone' },
    ]);
  });
});

describe('an update', () => {
  test('of what is so already sends nothing', async () => {
    const { on, client } = await scene();
    const name = textOf(on, client, 'name');
    expect(await on.entry(await on.send(update(client, { name })))).toMatchObject({
      state: 'done',
      verdict: 'already_so',
      attempts: 0,
    });
    expect(asked(on, 'PUT')).toEqual([]);
    expect(await on.events()).toEqual([]);
  });

  test('that somebody else made so is theirs, though the service had put ours off', async () => {
    const { on, client, number } = await scene();
    spoil(on, 'PUT', { status: 429 }, { times: 1 });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    on.service.world.update('clients', number, { name: 'Autre nom' });
    await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'already_so' });
    expect(await on.events()).toEqual([`${client} updated service`]);
  });

  test('E09: of a record that is gone is parked, and nothing is made anew', async () => {
    const { on, client, number } = await scene();
    on.service.world.remove('clients', number);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'gone', attempts: 0 });
    await on.pass(880);
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'gone' });
    await on.pass(600);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'gone', attempts: 0 });
    expect([...asked(on, 'PUT'), ...asked(on, 'POST')]).toEqual([]);
  });

  test('with an id that the service never had is parked at once', async () => {
    const { on } = await scene();
    const id = await on.send(update('999999', { name: 'Autre nom' }));
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_such_record', attempts: 0 });
    const retry = () => retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    const next = async () => explain((await readHistory(on.parts, id)).entry).next.join('; ');
    await retry();
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_such_record' });
    expect(asked(on, 'PUT')).toEqual([]);
    expect(await next()).not.toContain('retry');
    enter(on, { id: 999_999, code: 'NEW', name: 'New' });
    await on.pull('clients');
    expect(await next()).toContain(`bms-sync outbox retry ${id}`);
    await retry();
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });

  test('with a new id is sent where an outage has ended between two answers', async () => {
    const { on } = await scene();
    const newcomer = enter(on, { code: 'NEW', name: 'New' });
    const missing = { status: 404, body: '{"message":"No."}' };
    const once = { on: { kind: 'clients', method: 'GET', id: newcomer }, times: 1, do: missing } as const;
    on.service.setFaults([once]);
    const id = await on.send(update(newcomer, { name: 'Autre nom' }));
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test.each<[string, Opening, FaultAction | null, string]>([
    ['a kind without a baseline', { pulled: [] }, null, 'gone'],
    ['a service that shows no record', {}, { status: 404, body: '{"message":"No."}' }, 'unreachable'],
    ['a page of a proxy', {}, { status: 404, body: '<h1>Not found</h1>' }, 'unreachable'],
    ['a firewall', {}, { status: 403, body: '<h1>Blocked</h1>' }, 'unreachable'],
  ])('with an unknown id waits where that proves nothing: %s', async (_what, opening, action, verdict) => {
    const { on } = await scene({ ...opening, pulled: ['clients'] });
    if (opening.pulled)
      await on.session.atomically((tx) => tx.query(sql`update kind_state set baseline_at = null`));
    const faults = action === null ? [] : [{ on: { kind: 'clients', method: 'GET' }, do: action }];
    on.service.setFaults(faults);
    expect(await on.entry(await on.send(update('999999', { name: 'Autre nom' })))).toMatchObject({
      state: 'ready',
      verdict,
      attempts: 0,
    });
  });

  test('of a record that the service has, but no list yet, is sent', async () => {
    const { on } = await scene();
    const client = enter(on, { code: 'N-1', name: 'New' });
    expect(await on.entry(await on.send(update(client, { name: 'Autre nom' })))).toMatchObject({
      state: 'done',
      verdict: 'sent',
    });
  });

  test('of a record that no list has shown waits: it may wait for an approval', async () => {
    const { on, client, number } = await scene();
    await on.session.atomically((tx) =>
      tx.query(sql`update clients set _listed = null where id = ${client}`),
    );
    const record = on.service.world.get('clients', number);
    on.service.world.remove('clients', number);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    for (let hours = 0; hours < 3; hours++) await on.pass(3600);
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'gone', attempts: 0 });
    on.service.world.insert('clients', { ...record });
    await on.pass(3600);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('of a record whose deletion is proven is parked at once', async () => {
    const { on, client, number } = await scene();
    const id = await on.store(update(client, { name: 'Autre nom' }));
    await on.session.atomically((tx) =>
      tx.query(sql`update clients set _deleted_at = '2026-03-01 12:00:00.000' where id = ${client}`),
    );
    on.service.world.remove('clients', number);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'gone' });
  });

  test.each<[string, FaultAction, string]>([
    ['records', { status: 404, body: '{"message":"Not found."}' }, 'clients'],
    [
      'lists',
      { status: 200, body: '{"data":[],"meta":{"current_page":1,"last_page":1,"total":0}}' },
      'punches',
    ],
  ])('waits while the service shows none of its %s, and is done afterwards', async (_what, action, kind) => {
    const on = await opened({ pulled: [kind] });
    const record = await on.firstId(kind);
    const id = await on.store(
      update(record, kind === 'clients' ? { name: 'Autre nom' } : { note: 'Oubli' }, kind),
    );
    on.service.setFaults([{ on: { kind, method: 'GET' }, do: action }]);
    await on.work();
    for (let look = 0; look < 12; look++) await on.pass(600);
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
    on.service.setFaults([]);
    await on.pass(600);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('of a record that is not there for a moment after the write is not taken for gone', async () => {
    const { on, client } = await scene();
    on.service.setFaults([
      {
        on: { kind: 'clients', method: 'GET' },
        skip: 1,
        times: 1,
        do: { status: 404, body: '{"message":"No."}' },
      },
    ]);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1 });
  });

  test('whose writes are never answered and never done is parked in the end; who retries gets a try', async () => {
    const { on, client } = await scene();
    spoil(on, 'PUT', { drop: 'before' });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    for (let tries = 0; tries < 12; tries++) await on.pass(600);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_answer', attempts: 10 });
    on.service.setFaults([]);
    await retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 11 });
  });

  test('that the service asks to wait, however often, is put off and done afterwards', async () => {
    const { on, client } = await scene();
    spoil(on, 'PUT', { status: 429, retryAfter: '3' }, { times: 12 });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    for (let tries = 0; tries < 12; tries++) {
      expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'busy' });
      await on.pass(3);
    }
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 13 });
  });

  test.each([
    ['before', 0, 0],
    ['after', 1, 1],
  ])('whose reading %s the write gets 429 waits for as long as asked', async (_when, skip, attempts) => {
    const { on, client } = await scene();
    spoil(on, 'GET', { status: 429, retryAfter: '3' }, { skip });
    const id = await on.send(update(client, { name: 'Autre nom' }));
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'busy', attempts });
    on.service.setFaults([]);
    await on.pass(3);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1 });
  });

  test('whose record cannot be read waits longer from time to time', async () => {
    const { on, client } = await scene();
    const waits: number[] = [];
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { status: 500 } }]);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    for (let tries = 0; tries < 12; tries++) {
      const entry = await on.entry(id);
      expect(entry).toMatchObject({ state: 'ready', verdict: 'unreachable', attempts: 0 });
      const due = Date.parse(`${(entry.nextAttemptAt ?? '').replace(' ', 'T')}Z`);
      waits.push((due - on.clock.now().getTime()) / 1000);
      await on.pass(waits.at(-1) ?? 0);
    }
    expect(waits[0]).toBe(5);
    expect(waits.at(-1)).toBe(300);
    on.service.setFaults([]);
    await on.pass(600);
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 1 });
  });

  test('whose record could not be read goes once a reading of its list shows that the service is back', async () => {
    const { on, client } = await scene();
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { status: 500 } }]);
    const id = await on.send(update(client, { name: 'Autre nom' }));
    await on.pass(5);
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
    on.service.setFaults([]);
    await on.pull('clients');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 1 });
  });

  test('of a record that we may not read blocks the kind', async () => {
    const { on, client } = await scene();
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { refuse: true } }]);
    expect(await on.entry(await on.send(update(client, { name: 'Autre nom' })))).toMatchObject({
      state: 'ready',
      verdict: 'kind_blocked',
    });
    expect(await on.rows(sql`select reason from write_blocks`)).toEqual([{ reason: 'forbidden' }]);
  });

  test('E04: a retry after a lost answer begins at the read: a newer foreign change stays', async () => {
    const { on, client, number } = await scene();
    const base = { name: textOf(on, client, 'name') };
    spoil(on, 'PUT', { drop: 'before' }, { times: 1 });
    const id = await on.send({ ...update(client, { name: 'Ours' }), base });
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'no_answer' });
    on.service.world.update('clients', number, { name: 'Theirs' });
    await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'conflict' });
    expect(on.service.world.get('clients', number)?.['name']).toBe('Theirs');
  });

  test('of a record that the mirror does not know is sent, and leaves the row to its list', async () => {
    const { on } = await scene();
    const number = on.service.world.insert('clients', { code: 'N', name: 'New' })['id'] as number;
    expect(await on.entry(await on.send(update(String(number), { name: 'Newer' })))).toMatchObject({
      state: 'done',
      verdict: 'sent',
    });
    expect(await on.events()).toEqual([]);
    await on.pull('clients');
    expect(await on.events()).toEqual([`${number} created service`]);
  });
});

describe('a kind whose records cannot be asked for one by one', () => {
  test('is read in its list: punches', async () => {
    const on = await opened({ pulled: ['punches'] });
    const punch = await on.firstId('punches');
    const id = await on.send(update(punch, { note: 'Oubli', end_time: '17:30' }, 'punches'));
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(on.service.world.get('punches', Number(punch))).toMatchObject({
      note: 'Oubli',
      end_time: '17:30:00',
    });
    expect(asked(on, 'GET').filter((path) => path.startsWith('/api/categories'))).toEqual([]);
    expect(await on.events()).toEqual([`${punch} updated outbox:${id}`]);
    await on.pull('punches');
    expect(await on.events()).toHaveLength(1);
  });

  test('is read on the page that showed it last: purchase_products', async () => {
    const on = await opened({ pulled: ['purchase_products'], service: { size: 600 } });
    const [last] = await on.rows(
      sql`select page, ids from pages where kind = 'purchase_products' order by page desc limit 1`,
    );
    const line = String(last?.['ids']).replace(/[[\]]/g, '').split(',')[0] ?? '';
    expect(Number(last?.['page'])).toBeGreaterThan(1);
    const before = on.service.requests.length;
    expect(
      await on.entry(await on.send(update(line, { product_name: 'Vis' }, 'purchase_products'))),
    ).toMatchObject({ state: 'done', verdict: 'sent' });
    const pages = on.service.requests.slice(before).filter(({ method }) => method === 'GET');
    expect(pages.map(({ query }) => query)).toEqual(
      Array(pages.length).fill(`page=${String(last?.['page'])}`),
    );
  });

  test('is read from the beginning where the record has moved to another page', async () => {
    const on = await opened({ pulled: ['purchase_products'], service: { size: 600 } });
    const line = await on.firstId('purchase_products');
    const moved = sql`update pages set ids = '[1]' where kind = 'purchase_products' and ids like ${`%${line}%`}`;
    await on.session.atomically((tx) => tx.query(moved));
    expect(
      await on.entry(await on.send(update(line, { product_name: 'Vis' }, 'purchase_products'))),
    ).toMatchObject({ state: 'done', verdict: 'sent' });
  });
});

test('no answer leaves the token in the database', async () => {
  const { on, client } = await scene();
  const { token } = on.service;
  for (const status of [200, 422, 500, 429]) {
    spoil(on, 'PUT', { status, body: JSON.stringify({ message: `bad ${token}`, id: token }) });
    await on.send(update(client, { name: `N${status}` }));
  }
  const kept = [await on.rows(sql`select * from outbox`), await on.rows(sql`select * from outbox_attempts`)];
  expect(JSON.stringify(kept)).not.toContain(token);
});

describe('updates of one record whose authors did not say what they saw', () => {
  test('follow one another: what ours made of it is nobody else’s work', async () => {
    const { on, client } = await scene();
    const requests = ['A', 'B', 'C'].map(
      (name) => ({ operation: 'update', kind: 'clients', id: client, data: { name } }) as const,
    );
    const stored = await storeChecked(
      on.session,
      await checkRequests(on.session, KINDS, requests),
      on.clock.now(),
    );
    await on.work();
    for (const { id } of stored) expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(await bodies(on)).toEqual([{ name: 'A' }, { name: 'B' }, { name: 'C' }]);
  });

  test('begin with what the mirror has, so that somebody else’s change in between is seen', async () => {
    const { on, client, number } = await scene();
    on.service.world.update('clients', number, { name: 'Theirs' });
    const id = await on.send({ operation: 'update', kind: 'clients', id: client, data: { name: 'Ours' } });
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'conflict' });
  });
});
