import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { readTick } from '../../../src/store/kinds/kind-standing.ts';
import { landOwnWrite, type OwnRecord } from '../../../src/outbound/send/land-own-write.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { asked, create, opened, spoil, update, type Stage } from '../stage.ts';

const clients = documentedKind('clients');

async function land(on: Stage, record: JsonObject, how: Partial<OwnRecord> = {}): Promise<void> {
  if (clients === undefined) throw new Error('There are clients.');
  const reading = { kind: clients, record, origin: 'outbox:1', canBeNew: true, ...how };
  await on.session.atomically((tx) => landOwnWrite(tx, on.parts, reading));
}

const nameOf = async (on: Stage, id: string): Promise<unknown> =>
  (await on.rows(sql`select name from clients where id = ${id}`))[0]?.['name'];

/** A sweep whose first page is under way: it shows what was there when it was asked for. */
async function sweepHolding(on: Stage): Promise<() => Promise<void>> {
  on.service.setFaults([{ on: { kind: 'clients', method: 'GET', page: 1 }, times: 1, do: { holdMs: 500 } }]);
  const seen = asked(on, 'GET').length;
  const sweep = on.pull('clients');
  await expect.poll(() => asked(on, 'GET').length).toBeGreaterThan(seen);
  return () => sweep;
}

describe.each(ONE_DATABASE)('what a write of ours has shown lands in %s', (database) => {
  test('E08: with its events and its tick above whatever a list was asked for', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    const record = on.service.world.get('clients', Number(client)) ?? {};
    const before = await readTick(on.session, 'clients');
    await land(on, { ...record, name: 'Autre nom' }, { canBeNew: false });
    const [row] = await on.rows(sql`select _response, _listed from clients where id = ${client}`);
    expect(Number(row?.['_response'])).toBeGreaterThan(before + 999_999);
    expect(Number(row?.['_listed'])).toBeLessThanOrEqual(before);
    expect(await on.events()).toEqual([`${client} updated outbox:1`]);
  });
});

describe.each(ONE_DATABASE)('what a write of ours has shown lands in %s', (database) => {
  test('and is not deleted while list and record lag behind, even without a grace period', async () => {
    const on = await opened({ database, deletions: { graceSeconds: 0 } });
    const id = await on.store(create());
    await on.work();
    const recordId = (await on.entry(id)).recordId ?? '';
    await on.pull('clients');
    on.service.world.remove('clients', Number(recordId)); // Neither shows it any more.
    const isDeleted = async () =>
      (await on.rows(sql`select 1 from clients where id = ${recordId} and _deleted_at is not null`)).length >
      0;
    for (let sweep = 0; sweep < 3; sweep++) await on.pull('clients');
    expect(await isDeleted()).toBe(false);
    await on.clock.sleep(900_001);
    for (let sweep = 0; sweep < 3; sweep++) await on.pull('clients');
    expect(await isDeleted()).toBe(true);
  });

  test('and counts as the last change of its kind', async () => {
    const on = await opened({ database });
    await on.pass(3_600);
    const id = await on.store(update(await on.firstId('clients'), { name: 'Autre nom' }));
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
    const [event] = await on.rows(sql`select observed_at from changes order by seq desc limit 1`);
    const [kind] = await on.rows(sql`select last_change_at from bi_sync_status where kind = 'clients'`);
    expect(kind?.['last_change_at']).toEqual(event?.['observed_at']);
  });

  test('E10: and a page that was read before does not revert it', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    const sweep = await sweepHolding(on);
    const id = await on.store(update(client, { name: 'Autre nom' }));
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
    await sweep();
    expect(await nameOf(on, client)).toBe('Autre nom');
    await on.pull('clients');
    expect(await on.events()).toEqual([`${client} updated outbox:${id}`]);
  });

  test('as newer also where nothing changed, without an event', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    await land(on, on.service.world.get('clients', Number(client)) ?? {}, { canBeNew: false });
    expect(await on.events()).toEqual([]);
    const touched = await on.rows(sql`select record_id from touched where kind = 'clients'`);
    expect(touched).toEqual([{ record_id: client }]);
  });

  test('and leaves the columns of a row as its text has them, where only the spelling differs', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    on.service.world.update('clients', Number(client), { name: 'Zoé'.normalize('NFD') });
    await on.pull('clients');
    const seen = await on.events();
    const record = on.service.world.get('clients', Number(client)) ?? {};
    await land(on, { ...record, name: 'Zoé'.normalize('NFC') }, { canBeNew: false });
    const [row] = await on.rows(sql`select name, _raw from clients where id = ${client}`);
    expect(JSON.parse(String(row?.['_raw']))).toMatchObject({ name: row?.['name'] });
    expect(await on.events()).toEqual(seen);
  });
});

test('a record that the mirror does not know gets a row only where it may be new', async () => {
  const on = await opened();
  await land(on, { id: 987_654, code: 'N' }, { canBeNew: false });
  expect(await on.events()).toEqual([]);
  await land(on, { id: 987_654, code: 'N' });
  expect(await on.events()).toEqual(['987654 created outbox:1']);
});

test('a record that its list has landed first is left as it is: it has its event', async () => {
  const on = await opened();
  const client = await on.firstId('clients');
  await land(on, { id: Number(client), code: 'N' });
  expect(await on.events()).toEqual([]);
});

test('what no row can be made of lands nowhere', async () => {
  const on = await opened();
  await land(on, { id: 'abc', code: 'N' });
  await land(on, { code: 'N' });
  expect(await on.events()).toEqual([]);
});

test('fields whose changes are no events make none of ours either', async () => {
  const on = await opened({ rules: { ignoreFields: { clients: ['name'] } } });
  const client = await on.firstId('clients');
  const id = await on.store(update(client, { name: 'Autre nom' }));
  await on.work();
  expect(await on.entry(id)).toMatchObject({ state: 'done' });
  expect(await nameOf(on, client)).toBe('Autre nom');
  expect(await on.events()).toEqual([]);
});

test('an own create is an event before the baseline as well', async () => {
  const on = await opened({ pulled: [] });
  await land(on, { id: 987_654, code: 'N' });
  expect(await on.events()).toEqual(['987654 created outbox:1']);
});

test('a create that its list shows while the answer is under way is one event, of the list', async () => {
  const on = await opened();
  spoil(on, 'POST', { holdMs: 600 }, { times: 1 });
  const id = await on.store(create());
  const work = on.work();
  await expect.poll(() => asked(on, 'POST').length).toBe(1);
  await on.pull('clients');
  await work;
  const entry = await on.entry(id);
  expect(entry).toMatchObject({ state: 'done', verdict: 'sent' });
  expect(await on.events()).toEqual([`${entry.recordId ?? ''} created service`]);
});
