import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { compactJson, type JsonObject } from '../../../src/lib/json/json.ts';
import { retryEntry } from '../../../src/outbound/decisions/decide.ts';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { asked, create, endPatience, enter, opened, spoil, type Stage } from '../stage.ts';

const ZOE = { code: 'ZZ-1', name: 'Zoé Tremblay' };

async function sendUnder(on: Stage, action: FaultAction, data: object = ZOE): Promise<number> {
  spoil(on, 'POST', action, { times: 1 });
  const id = await on.send(create({ ...data }));
  return id;
}

/** The service stores what it gets in a form of its own. */
function storeAs({ service: { world } }: Stage, form: (fields: JsonObject) => JsonObject): void {
  const insert = world.insert.bind(world);
  Object.assign(world, { insert: (kind: string, fields: JsonObject) => insert(kind, form(fields)) });
}

const inCapitals = (fields: JsonObject): JsonObject => ({
  ...fields,
  name: compactJson(fields['name'] ?? '')
    .replaceAll('"', '')
    .toUpperCase(),
});

const newest = ({ service: { world } }: Stage): string => String(Math.max(...world.ids('clients')));
const idsOf = async (on: Stage, id: number): Promise<unknown> =>
  (JSON.parse((await on.entry(id)).result ?? '{}') as JsonObject)['ids'];

describe('a success without a body', () => {
  test('is never sent again: the record that equals what was sent is ours', async () => {
    const on = await opened();
    const id = await sendUnder(on, { statusAfter: 201, body: '' });
    expect(await on.grades(id)).toEqual(['made']);
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: newest(on) });
  });

  test.each<[string, FaultAction]>([
    ['201 without a body', { status: 201, body: '' }],
    ['204', { status: 204, body: '' }],
    ['200 that reports a success', { status: 200, body: '{"success":true}' }],
    ['201 in JSON that names nothing', { status: 201, body: '{"message":"Created."}' }],
  ])('is never sent again, whatever the lists show and a person asks for: %s', async (_what, action) => {
    const on = await opened();
    const id = await sendUnder(on, action);
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named', attempts: 1 });
    await retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named', attempts: 1 });
    expect(asked(on, 'POST')).toHaveLength(1);
  });
});

describe('a record that was made and not named', () => {
  test('is the only newcomer that nothing contradicts, in whatever form', async () => {
    const on = await opened();
    storeAs(on, inCapitals);
    const id = await sendUnder(on, { statusAfter: 201, body: '' });
    const made = newest(on);
    enter(on, { code: 'S-1', name: 'Somebody else' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: made });
  });

  test('is none with another natural key, though its texts contain ours', async () => {
    const on = await opened();
    const id = await sendUnder(on, { status: 201, body: '' });
    enter(on, { code: 'ZZ-1 B', name: 'Zoé Tremblay et fils' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named' });
  });

  test('is none with our natural key and a value that no service makes of ours', async () => {
    const on = await opened();
    const id = await sendUnder(on, { status: 201, body: '' });
    const other = enter(on, { code: ZOE.code, name: 'Somebody else' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named' });
    expect(await idsOf(on, id)).toEqual([other]);
  });

  test('is the only newcomer, though somebody has edited it since', async () => {
    const on = await opened();
    storeAs(on, inCapitals);
    const id = await sendUnder(on, { statusAfter: 201, body: '' });
    const made = newest(on);
    await on.pull('clients');
    on.service.world.update('clients', Number(made), { name: 'Somebody else' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: made });
  });

  test('is for a person where several newcomers may be it', async () => {
    const on = await opened();
    storeAs(on, inCapitals);
    const id = await sendUnder(on, { statusAfter: 201, body: '' });
    const made = newest(on);
    const alike = enter(on, { code: 'S-1', name: 'zoe tremblay' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named', attempts: 1 });
    expect(await idsOf(on, id)).toEqual([made, alike]);
  });

  test('is for a person where the newcomer may be what another open entry has made', async () => {
    const on = await opened();
    storeAs(on, inCapitals);
    const id = await sendUnder(on, { status: 201, body: '' });
    const other = await sendUnder(on, { drop: 'after' }, { code: 'ZZ-2', name: ZOE.name });
    await endPatience(on);
    expect(await on.entry(other)).toMatchObject({ state: 'parked', verdict: 'look_alike' });
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named' });
  });

  test('is none whose id another record had before', async () => {
    const on = await opened();
    const id = await sendUnder(on, { status: 201, body: '' });
    const reused = await on.firstId('clients');
    on.service.world.update('clients', Number(reused), inCapitals(ZOE));
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named' });
    expect(await idsOf(on, id)).toEqual([reused]);
  });
});

describe('an id that may be the number of a job', () => {
  const queued = (id: number, status = 202): FaultAction => ({
    statusAfter: status,
    body: compactJson({ data: { id, status: 'queued' } }),
  });

  test.each([
    ['that names nothing', 202, 9_001],
    ['that names nothing, with another status', 201, 9_001],
    ['that another live record has', 202, null],
  ])('%s is no record: the record that equals what was sent is ours', async (_what, status, job) => {
    const on = await opened();
    const old = Number(await on.firstId('clients'));
    const id = await sendUnder(on, queued(job ?? old, status));
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'ambiguous', recordId: null });
    expect(await on.grades(id)).toEqual(['made']);
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: newest(on) });
    await endPatience(on);
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test('that a record of another user gets later is not ours', async () => {
    const on = await opened();
    const id = await sendUnder(on, { status: 202, body: '{"data":{"id":9001,"status":"queued"}}' });
    enter(on, { id: 9_001, code: 'ZZ-10', name: 'Somebody else' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'not_named', attempts: 1 });
  });

  test.each([200, 201, 202])(
    'and that the record gets, which a lagging replica did not show at first, is ours, though altered: %i',
    async (status) => {
      const on = await opened();
      const id = await sendUnder(on, { status, body: '{"data":{"id":9001}}' });
      enter(on, { id: 9_001, code: '0007', name: ZOE.name });
      await on.pass(300);
      const entry = await on.entry(id);
      expect(entry).toMatchObject({ state: 'done', verdict: 'adopted', recordId: '9001' });
      expect(entry.result).toContain('"altered":[{"field":"code"');
      const meta = await on.rows(sql`select key from mirror_meta where key = 'outbox.alters.clients'`);
      expect(meta).toHaveLength(1);
    },
  );

  test('is a record’s of a kind that cannot be asked for, with the status that says so', async () => {
    const on = await opened({ pulled: ['purchase_products'] });
    const lineOf = (status: number) => ({ purchase_id: '77', product_id: `P-${status}` });
    const ends: unknown[] = [];
    for (const status of [200, 201]) {
      const named = compactJson({ data: { id: 987_000 + status } });
      spoil(on, 'POST', { status, body: named }, { kind: 'purchase_products', times: 1 });
      const id = await on.send(create(lineOf(status), 'purchase_products'));
      ends.push((await on.entry(id)).state);
    }
    expect(ends).toEqual(['unsettled', 'done']);
    on.service.world.insert('purchase_products', { ...lineOf(200), id: 987_200 });
    await on.pass(300);
    expect(await on.rows(sql`select state, record_id from outbox order by id`)).toEqual([
      { state: 'done', record_id: '987200' },
      { state: 'done', record_id: '987201' },
    ]);
  });
});

describe('the Location of an answer', () => {
  const NEW = 987_654;
  const started = async (): Promise<Stage> => {
    const on = await opened();
    storeAs(on, (fields) => ({ ...fields, id: NEW }));
    return on;
  };

  test.each([
    [201, '', `/api/clients/${NEW}`],
    [303, '', `/api/clients/${NEW}/`],
    [303, '<html>See other</html>', `https://service.example/v2/api/clients/${NEW}?from=post`],
    [201, '{"success":true}', `clients/${NEW}`],
  ])('names the record: %i %s %s', async (statusAfter, body, location) => {
    const on = await started();
    const id = await sendUnder(on, { statusAfter, body, location });
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', recordId: String(NEW) });
    expect(await on.rows(sql`select code from clients where id = ${NEW}`)).toEqual([{ code: 'ZZ-1' }]);
    await endPatience(on);
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test.each([
    [303, '', '/login'],
    [303, '', `/api/products/${NEW}`],
    [302, '', `/api/clients/${NEW}`],
    [201, '{"success":false,"message":"no"}', `/api/clients/${NEW}`],
    [303, '', `/api/clients/${NEW}/edit`],
  ])(
    'names none where it leads elsewhere, or the service reports a failure: %i %s %s',
    async (status, body, location) => {
      const on = await started();
      const id = await sendUnder(on, { status, body, location });
      expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'ambiguous', recordId: null });
      expect(await on.grades(id)).toEqual(['ambiguous']);
    },
  );

  test('bars the certificate while nobody finds its record, and no longer once a list shows it', async () => {
    const on = await opened();
    const location = `/api/clients/${NEW}`;
    const id = await sendUnder(on, { status: 201, body: '', location });
    expect(await on.entry(id)).toMatchObject({ state: 'done', recordId: String(NEW) });
    const endings = (): Promise<unknown[]> =>
      on.rows(sql`select state, reason from run_kinds where kind = 'clients' order by run_id desc limit 1`);
    await on.pull('clients');
    expect(await endings()).toEqual([{ state: 'complete', reason: 'never_listed' }]);
    on.service.world.insert('clients', { id: NEW, ...ZOE });
    for (let times = 0; times < 2; times++) await on.pull('clients');
    expect(await endings()).toEqual([{ state: 'certified', reason: null }]);
  });

  test('with a record that was there before is parked', async () => {
    const on = await opened();
    const old = await on.firstId('clients');
    const id = await sendUnder(on, { status: 303, body: '', location: `/api/clients/${old}` });
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed', recordId: null });
  });
});
