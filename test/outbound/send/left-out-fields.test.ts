import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { compactJson, parseObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { readNeeds } from '../../../src/needs/read-needs.ts';
import { type DATABASES, ONE_DATABASE, backfillFrom } from '../../pull/steps.ts';
import { documentedMirror, sandbox } from '../../pull/support.ts';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { asked, create, enter, opened, push, spoil, stage, textOf, update, type Stage } from '../stage.ts';

const ADA = { code: 'A-1', name: 'Garage Ada', phone: '', fax: '555', contacts: [] };

/** A service whose answers to GET leave out what is blank, or these fields, and the mirror of its clients with one that is new. */
async function scene(database: (typeof DATABASES)[number], client: JsonObject = ADA) {
  const on = await opened({ database, pulled: [] });
  leaveOut(on, 'blanks');
  const number = on.service.world.insert('clients', client)['id'] as number;
  await on.pull('clients');
  return { on, number, id: String(number) };
}

const leaveOut = (on: Stage, leavesOut: 'blanks' | string[]): void => {
  spoil(on, 'GET', { leavesOut });
};

const fieldsOfEvents = async (on: Stage): Promise<unknown[]> =>
  (await on.rows(sql`select origin, fields from changes where change = 'updated' order by seq`)).map(
    ({ origin, fields }) => [origin, parseObject(String(fields))],
  );

describe.each(ONE_DATABASE)('a field that is left out while it is blank, in %s,', (database) => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a text', { phone: '418' }, { phone: '514' }],
    ['nested rows', { contacts: [{ nom: 'Ada' }] }, { contacts: [{ id: 9, nom: 'Bob' }] }],
  ])('is a conflict where another user has entered one since: %s', async (_what, wanted, others) => {
    const { on, id, number } = await scene(database);
    const entry = await push(on, id, wanted);
    on.service.world.update('clients', number, others);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
    expect(asked(on, 'PUT')).toEqual([]);
  });

  test('is in the row at once where we have set or cleared it, and the next list is no news', async () => {
    const { on, id } = await scene(database);
    const entry = await push(on, id, { phone: '418', fax: '' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
    const [row] = await on.rows(sql`select phone, fax from clients where id = ${id}`);
    expect(row).toEqual({ phone: '418', fax: null });
    const ours = [[`outbox:${entry}`, { phone: [null, '418'], fax: ['555', null] }]];
    expect(await fieldsOfEvents(on)).toEqual(ours);
    await on.pull('clients');
    expect(await fieldsOfEvents(on)).toEqual(ours);
  });

  test('that we have cleared without an answer is our change', async () => {
    const { on, id } = await scene(database);
    const entry = await push(on, id, { fax: '' });
    on.service.setFaults([
      { on: { kind: 'clients', method: 'PUT' }, times: 1, do: { drop: 'after' } },
      { on: { kind: 'clients', method: 'GET' }, skip: 1, times: 1, do: { status: 503 } },
      { on: { kind: 'clients', method: 'GET' }, do: { leavesOut: 'blanks' } },
    ]);
    await on.pass(60);
    await on.pass(60);
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
    await on.pull('clients');
    expect(await fieldsOfEvents(on)).toEqual([[`outbox:${entry}`, { fax: ['555', null] }]]);
  });
});

describe.each(ONE_DATABASE)('in %s', (database) => {
  test.each(['', '111'])(
    'a field that lists alone show is a conflict where another user has changed it from %j',
    async (phone) => {
      const on = await opened({ database, pulled: [] });
      const number = on.service.world.insert('clients', { ...ADA, phone })['id'] as number;
      const leavesOut = { do: { leavesOut: ['phone'] } };
      on.service.setFaults(
        on.service.world
          .ids('clients')
          .map((id) => ({ on: { kind: 'clients', method: 'GET', id: String(id) }, ...leavesOut })),
      );
      await on.pull('clients');
      const entry = await push(on, String(number), { phone: '418' });
      on.service.world.update('clients', number, { phone: '514' });
      await on.work();
      expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
      expect(asked(on, 'PUT')).toEqual([]);
    },
  );

  test('a field that another user has cleared is a conflict', async () => {
    const { on, id, number } = await scene(database);
    const entry = await push(on, id, { fax: '777' });
    on.service.world.update('clients', number, { fax: '' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
  });

  test('of a base that an application made, only the fields that it names count', async () => {
    const { on } = await scene(database);
    const { world } = on.service;
    const numbers = ['B-1', 'B-2', 'B-3'].map(
      (code) => world.insert('clients', { ...ADA, code })['id'] as number,
    );
    await on.pull('clients');
    const entries: number[] = [];
    for (const [at, number] of numbers.entries()) {
      const [row] = await on.rows(sql`select _raw as raw from clients where id = ${number}`);
      const bases: JsonObject[] = [{ code: 'B-1' }, { id: number }, parseObject(String(row?.['raw']))];
      entries.push(await push(on, String(number), { phone: '418' }, bases[at]));
      world.update('clients', number, { phone: '514' });
    }
    await on.pull('clients'); // The `_raw` of the last base is an event's by now.
    await on.work();
    const ends = await Promise.all(entries.map((entry) => on.entry(entry)));
    expect(ends.map(({ verdict }) => verdict)).toEqual(['sent', 'sent', 'conflict']);
  });

  test('an answer to a create that shows less than the list makes no conflicts', async () => {
    const { on } = await scene(database);
    const { world } = on.service;
    const insert = world.insert.bind(world);
    Object.assign(world, {
      insert: (kind: string, fields: JsonObject) => insert(kind, { ...fields, term: 30 }),
    });
    on.service.setFaults([{ on: { method: 'POST' }, do: { leavesOut: ['term', 'inactive'] } }]);
    const made = await on.store(create({ code: 'N-1', name: 'New' }));
    await on.work();
    const { recordId } = await on.entry(made);
    const pushed = await push(on, recordId ?? '', { term: 60 });
    const inserted = await on.store(update(recordId ?? '', { inactive: 1 }));
    await on.work();
    expect((await on.entry(pushed)).verdict).toBe('sent');
    expect((await on.entry(inserted)).verdict).toBe('sent');
  });

  test('a field that only single records show is in no row that a list has shown, and makes no events', async () => {
    const on = await opened({ database, pulled: [], service: { size: 5 } });
    on.service.setFaults([{ on: { kind: 'clients', page: 1 }, do: { leavesOut: ['website'] } }]);
    await on.pull('clients');
    const listed = await on.firstId('clients');
    const unlisted = enter(on, { code: 'N-1', name: 'New', website: 'new.example' });
    for (const ids of [[unlisted], [listed]])
      await backfillFrom(on.service, on.session, { kind: 'clients', extent: { ids } });
    await on.pull('clients');
    expect(await fieldsOfEvents(on)).toEqual([]);
    const [row] = await on.rows(sql`select _raw as raw from clients where id = ${listed}`);
    expect(Object.keys(parseObject(String(row?.['raw'])))).not.toContain('website');
  });

  test('a service that begins to leave out blanks makes no conflicts', async () => {
    const { on, id, number } = await scene(database);
    on.service.setFaults([]);
    await on.pull('clients');
    const entry = await push(on, id, { phone: '418', city: 'Hull' });
    leaveOut(on, 'blanks');
    on.service.world.update('clients', number, { website: 'ada.example' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('an update that the service ignores is not applied, as before', async () => {
    const { on, id } = await scene(database);
    const entry = await push(on, id, { phone: '418' });
    on.service.setFaults([
      { on: { kind: 'clients', method: 'PUT' }, do: { ignoreFields: ['phone'] } },
      { on: { kind: 'clients', method: 'GET' }, do: { leavesOut: 'blanks' } },
    ]);
    await on.work();
    await on.pass(60);
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'not_applied', attempts: 2 });
  });
});

/** A mirror of documented columns alone, and a service where no client has a value in `phone2`. */
async function sceneWithout(left: FaultAction, phone2: string | null = null) {
  const on = stage(await sandbox({ size: 12 }), await documentedMirror());
  await on.outbox.due(0);
  const number = on.service.world.insert('clients', ADA)['id'] as number;
  for (const id of on.service.world.ids('clients')) on.service.world.update('clients', id, { phone2 });
  spoil(on, 'GET', left);
  await on.pull('clients');
  return { on, number, id: String(number) };
}

describe('a field that the list has not shown', () => {
  test('and shows without a value since, is a conflict where another user has entered one', async () => {
    const { on, id, number } = await sceneWithout({ leavesOut: ['phone2'] });
    on.service.setFaults([]);
    await on.pull('clients');
    const entry = await push(on, id, { phone2: '418' });
    on.service.world.update('clients', number, { phone2: '514' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
    expect(asked(on, 'PUT')).toEqual([]);
  });

  test('and shows with a value since, was blank: another user has entered it', async () => {
    const { on, id, number } = await sceneWithout({ leavesOut: 'blanks' });
    const first = await push(on, id, { phone2: '418' });
    await on.work();
    const second = await push(on, id, { phone2: '419' });
    await on.work();
    const third = await push(on, id, { phone2: '420' });
    on.service.world.update('clients', number, { phone2: '514' });
    await on.work();
    const ends = await Promise.all([first, second, third].map((entry) => on.entry(entry)));
    expect(ends.map(({ verdict }) => verdict)).toEqual(['sent', 'sent', 'conflict']);
    expect(textOf(on, id, 'phone2')).toBe('514');
  });

  test('and does not show yet, is unknown whatever the single record shows', async () => {
    const { on, id } = await sceneWithout({ leavesOut: ['phone2'] }, '514');
    on.service.setFaults([{ on: { kind: 'clients', page: 1 }, do: { leavesOut: ['phone2'] } }]);
    const entry = await push(on, id, { phone2: '418' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });
});

describe.each(ONE_DATABASE)('a release that drops a field, in %s,', (database) => {
  test.each([
    ['before the list was read again', false],
    ['after the list was read again', true],
  ])('makes its updates wait: %s', async (_when, isRead) => {
    const on = await opened({ database });
    const ids = on.service.world.ids('clients').slice(0, 20);
    for (const id of ids) on.service.world.update('clients', id, { fax: '555' });
    await on.pull('clients');
    for (const id of ids) await push(on, String(id), { fax: `777 ${id}` });
    leaveOut(on, ['fax']);
    if (isRead) await on.pull('clients');
    for (let hours = 0; hours < 3; hours++) await on.pass(3_600);
    const states = sql`select state, verdict, attempts, count(*) as n from outbox group by state, verdict, attempts`;
    expect(compactJson((await on.rows(states)) as unknown as JsonObject[])).toBe(
      '[{"state":"ready","verdict":"field_not_shown","attempts":0,"n":20}]',
    );
    expect(asked(on, 'PUT')).toEqual([]);
    const facts = { fields: 'clients.fax', entries: 20 };
    expect(await readNeeds(on.session, [])).toEqual([{ type: 'field.not_shown', facts }]);
    on.service.setFaults([]);
    await on.pass(3_600);
    expect(await on.rows(sql`select verdict, count(*) as n from outbox group by verdict`)).toEqual([
      { verdict: 'sent', n: 20 },
    ]);
    expect(textOf(on, String(ids[0]), 'fax')).toBe(`777 ${String(ids[0])}`);
  });

  test('while an update is on its way, sends it no second time', async () => {
    const { on, id } = await scene(database);
    const entry = await push(on, id, { fax: '777' });
    on.service.setFaults([
      { on: { kind: 'clients', method: 'GET' }, times: 1, do: { leavesOut: 'blanks' } },
      { on: { kind: 'clients', method: 'GET' }, do: { leavesOut: ['fax'] } },
    ]);
    for (let hours = 0; hours < 3; hours++) await on.pass(3_600);
    expect(await on.entry(entry)).toMatchObject({ state: 'ready', verdict: 'field_not_shown', attempts: 1 });
    on.service.setFaults([]);
    await on.pass(3_600);
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 1 });
  });
});
