import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { asked, opened, push, spoil, update, type Stage } from '../stage.ts';

const ADA = {
  code: 'A-1',
  name: 'Garage Ada',
  city: 'Hull',
  email: 'ada@ada.example',
  phone: '514 555-0101',
};
const BOB = {
  code: 'B-9',
  name: 'Scierie Bob',
  city: 'Hull',
  email: 'bob@bob.example',
  phone: '418 555-0909',
};

const DAY_MS = 24 * 3_600_000;

/** A service with one known client, and its mirror. */
async function scene(client: JsonObject = ADA) {
  const on = await opened({ pulled: [], deletions: { graceSeconds: 1 } });
  const number = on.service.world.insert('clients', client)['id'] as number;
  await on.pull('clients');
  return { on, number, id: String(number) };
}

function reuse({ service }: Stage, id: number, fields: JsonObject): void {
  service.world.remove('clients', id);
  service.world.insert('clients', { ...fields, id });
}

describe('an update whose id was given to another record', () => {
  test.each([
    ['without a base', undefined, false],
    ['with a base of one field', { term: 30 }, false],
    ['with a base of one field, where the mirror has seen the other record', { term: 30 }, true],
    ['without a base, where the mirror has seen the other record', undefined, true],
  ])('is parked and nothing is sent, %s', async (_what, base, isSeen) => {
    const { on, id, number } = await scene({ ...ADA, term: 30 });
    const entry = await push(on, id, { term: 60 }, base);
    reuse(on, number, { ...BOB, term: 30 });
    if (isSeen) await on.pull('clients');
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
    expect(asked(on, 'PUT')).toEqual([]);
    const { conflicts } = JSON.parse((await on.entry(entry)).result ?? '{}') as Record<string, unknown>;
    expect(conflicts).toContainEqual({ field: 'code', base: 'A-1', remote: 'B-9' });
  });

  test('is parked where the record did not answer for a while and came back with another key, which alone both show', async () => {
    const { on, id, number } = await scene({ code: 'A-1', name: '' });
    const entry = await push(on, id, { term: 60 });
    on.service.world.remove('clients', number);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'ready', verdict: 'gone' });
    on.service.world.insert('clients', { code: 'B-9', name: '', id: number });
    await on.clock.sleep(600_000);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
  });

  test('is parked although the clock was set back by a day before the mirror saw the other record', async () => {
    const { on, id, number } = await scene({ ...ADA, term: 30 });
    await on.clock.sleep(DAY_MS);
    const entry = await push(on, id, { term: 60 }, { term: 30 });
    on.clock.setBy(-DAY_MS);
    reuse(on, number, { ...BOB, term: 30 });
    await on.pull('clients');
    await on.clock.sleep(DAY_MS);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
  });

  test.each([
    ['was set back by a day', DAY_MS],
    ['is four minutes behind the one that dated the update', 240_000],
  ])('is parked where it was stored by SQL, without a base, though our clock %s', async (_what, ms) => {
    const { on, id, number } = await scene({ ...ADA, term: 30 });
    await on.clock.sleep(DAY_MS);
    const entry = await on.store({ operation: 'update', kind: 'clients', id, data: { term: 60 } });
    on.clock.setBy(-ms);
    reuse(on, number, { ...BOB, term: 30 });
    await on.pull('clients');
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
    expect(asked(on, 'PUT')).toEqual([]);
  });

  test('is parked where the record was deleted and came back, whatever it shows', async () => {
    const { on, id, number } = await scene();
    const entry = await push(on, id, { term: 60 });
    on.service.world.remove('clients', number);
    for (let pull = 0; pull < 3; pull++) {
      await on.clock.sleep(1_000_000);
      await on.pull('clients');
    }
    on.service.world.insert('clients', { ...ADA, id: number });
    await on.pull('clients');
    expect(await on.rows(sql`select change from changes where record_id = ${id} order by seq`)).toEqual([
      { change: 'deleted' },
      { change: 'restored' },
    ]);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record' });
    expect(asked(on, 'PUT')).toEqual([]);
  });
});

const NEIGHBOUR = { ...BOB, state: 'QC', zipcode: 'J8X 1A1', term: 30, inactive: 0 };
const OWNER = { ...ADA, state: 'QC', zipcode: 'J8X 1A1', term: 30, inactive: 0 };

describe('another client in the same town, made on the same day,', () => {
  test.each([
    ['of many', false],
    ['of three', true],
  ])('is another record: %s', async (_what, isSmall) => {
    const on = await opened({ pulled: [] });
    const { world } = on.service;
    if (isSmall) for (const id of world.ids('clients').slice(2)) world.remove('clients', id);
    const number = world.insert('clients', OWNER)['id'] as number;
    await on.pull('clients');
    const entry = await push(on, String(number), { term: 60 });
    reuse(on, number, NEIGHBOUR);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
    expect(asked(on, 'PUT')).toEqual([]);
  });
});

describe('what each record shows', () => {
  test.each<[string, JsonObject]>([
    ['a phone that is none', { phone: 'N/A' }],
    ['a nested id that counts within its record', { contacts: [{ id: 1, nom: 'Someone' }] }],
  ])('proves no identity: %s', async (_what, shown) => {
    const on = await opened({ pulled: [] });
    const { world } = on.service;
    for (const id of world.ids('clients')) world.update('clients', id, shown);
    const number = world.insert('clients', { ...ADA, phone: '', ...shown })['id'] as number;
    await on.pull('clients');
    const entry = await push(on, String(number), { term: 60 });
    reuse(on, number, { ...BOB, phone: '', city: 'Alma', ...shown });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
    expect(asked(on, 'PUT')).toEqual([]);
  });
});

describe('a person who says that it is the same record', () => {
  test('is asked no more about that, though about conflicts', async () => {
    const { on, id, number } = await scene(OWNER);
    const [calm, torn] = [await push(on, id, { term: 60 }), await push(on, id, { name: 'Ada inc.' })];
    on.service.world.update('clients', number, NEIGHBOUR);
    await on.pass(60);
    const retry = (entry: number, overwrite = false) =>
      retryEntry(on.session, KINDS, { id: entry, overwrite }, on.clock.now());
    for (const entry of [calm, torn]) {
      expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record' });
      spoil(on, 'GET', { status: 503 }, { times: 1 }); // What was decided outlasts an outage.
      await retry(entry);
      await on.pass(60);
    }
    expect(await on.entry(calm)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(await on.entry(torn)).toMatchObject({ state: 'parked', verdict: 'conflict' });
    await retry(torn, true);
    await on.pass(60);
    expect(await on.entry(torn)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('is asked again once the record was deleted since', async () => {
    const { on, id, number } = await scene(OWNER);
    const entry = await push(on, id, { term: 60 });
    on.service.world.update('clients', number, NEIGHBOUR);
    await on.work();
    await retryEntry(on.session, KINDS, { id: entry }, on.clock.now());
    reuse(on, number, NEIGHBOUR);
    await on.clock.sleep(1000);
    await on.session.atomically((tx) =>
      tx.query(sql`update clients set _deleted_at = '2026-01-01 00:00:00.000' where id = ${number}`),
    );
    await on.pull('clients');
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record', attempts: 0 });
  });
});

test('fifty renames, each with another field, stop no update', async () => {
  const on = await opened();
  const ids = on.service.world.ids('clients').slice(0, 50);
  const entries: number[] = [];
  for (const id of ids) entries.push(await push(on, String(id), { term: 61 }));
  for (const [at, id] of ids.entries()) {
    const also = at % 2 === 0 ? { name: `Renamed ${at}` } : { phone: `418 555-${1000 + at}` };
    on.service.world.update('clients', id, { code: `R-${at}`, email: `r${at}@x.example`, ...also });
  }
  await on.work();
  const verdicts = await on.rows(sql`select verdict, count(*) as n from outbox group by verdict`);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['sent']);
});

test('an application’s own row knows the record as of its insertion, not of its first claim', async () => {
  const { on, id, number } = await scene();
  const entry = await on.store(update(id, { term: 60 }));
  await on.clock.sleep(1000);
  reuse(on, number, BOB);
  await on.pull('clients');
  await on.work();
  expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'other_record' });
});

test.each<[string, JsonObject]>([
  ['renamed by another user', { code: 'A-2' }],
  ['renamed, with one of its other fields', { code: 'A-2', phone: '1' }],
  ['moved with all but its key', { ...BOB, code: 'A-1' }],
])('the record is the same if it was %s', async (_what, change) => {
  const { on, id, number } = await scene();
  const entry = await push(on, id, { term: 60 });
  on.service.world.update('clients', number, change);
  await on.work();
  expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
});

test('the record is the same if it was we who renamed it, though the answer was lost', async () => {
  const { on, id } = await scene();
  spoil(on, 'PUT', { drop: 'after' }, { times: 1 });
  const first = await push(on, id, BOB);
  const second = await push(on, id, { term: 60 }, ADA);
  await on.work();
  expect(await on.entry(first)).toMatchObject({ state: 'done', verdict: 'sent' });
  expect(await on.entry(second)).toMatchObject({ state: 'done', verdict: 'sent' });
});

test('a punch whose time was corrected is the same, and one of another day and person is not', async () => {
  const on = await opened({ pulled: ['punches'] });
  const ids = on.service.world.ids('punches').slice(0, 2);
  const entries: number[] = [];
  for (const id of ids) entries.push(await on.store(update(String(id), { note: 'Oubli' }, 'punches')));
  await on.clock.sleep(1000);
  const [corrected = 0, reused = 0] = ids;
  on.service.world.update('punches', corrected, { start_time: '05:05:00' });
  on.service.world.update('punches', reused, { start_time: '05:05:00', date: '2020-02-02', user_id: 987 });
  await on.work();
  const ends = await Promise.all(entries.map((entry) => on.entry(entry)));
  expect(ends.map(({ verdict }) => verdict)).toEqual(['sent', 'other_record']);
});
