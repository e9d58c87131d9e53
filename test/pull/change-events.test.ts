import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { mirror, rewriting, rowsOf, sandbox } from './support.ts';
import { ONE_DATABASE, MIRRORS, eventsOf, instantAt, pullOne } from './steps.ts';

const kind = 'clients';

const textOf = ({ world }: Sandbox, id: number): string => JSON.stringify(world.get(kind, id));

describe.each(ONE_DATABASE)('%s', (database) => {
  test('every event tells what was, what is, since when at the earliest, and by which run', async () => {
    const service = await sandbox({ size: 130 });
    const session = await MIRRORS[database]();
    const [id = 0, other = 0] = service.world.ids(kind);
    await pullOne(service, session, { kind });
    const before = textOf(service, id);
    const old = service.world.get(kind, id) ?? {};

    service.world.update(kind, id, { city: 'Rimouski', credit: '12.34' }); // Between 12:00 and 12:10.
    const fresh = Number(service.world.insert(kind, { code: 'NEW', name: 'Neuf' })['id']);
    const first = await pullOne(service, session, { kind, minute: 10 });
    const between = textOf(service, id);
    service.world.update(kind, id, { city: 'Matane' }); // Between 12:10 and 12:30.
    service.world.remove(kind, other);
    const second = await pullOne(service, session, { kind, minute: 30 });

    const common = { kind, origin: 'service' };
    const events = await eventsOf(session);
    expect(events.map(({ seq, ...event }) => [Number(seq) > 0, event])).toEqual(
      expect.arrayContaining([
        [
          true,
          {
            ...common,
            record_id: String(id),
            change: 'updated',
            before,
            after: between,
            fields: JSON.stringify({ city: [old['city'], 'Rimouski'], credit: [old['credit'], '12.34'] }),
            observed_from: instantAt(0),
            observed_at: instantAt(10),
            run_id: first.runId,
          },
        ],
        [
          true,
          {
            ...common,
            record_id: String(fresh),
            change: 'created',
            before: null,
            fields: '{}',
            after: textOf(service, fresh),
            observed_from: instantAt(0),
            observed_at: instantAt(10),
            run_id: first.runId,
          },
        ],
        [
          true,
          {
            ...common,
            record_id: String(id),
            change: 'updated',
            before: between,
            after: textOf(service, id),
            fields: '{"city":["Rimouski","Matane"]}',
            observed_from: instantAt(10),
            observed_at: instantAt(30),
            run_id: second.runId,
          },
        ],
      ]),
    );
    expect(events).toHaveLength(3);
    expect(events.map(({ seq }) => Number(seq))).toEqual(
      [...events.map(({ seq }) => Number(seq))].sort((a, b) => a - b),
    );
    expect([first, second]).toMatchObject([
      { created: 1, updated: 1 },
      { created: 0, updated: 1 },
    ]);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a field that appears as null, or vanishes where it was null, is no event; its first value is one', async () => {
    const honest = await sandbox({ size: 60 });
    const session = await MIRRORS[database]();
    let value: string | null = null;
    const service = await rewriting(honest, (body) =>
      value === null ? body : body.replaceAll('"city":', `"region":${value},"city":`),
    );
    const pull = (minute: number) => pullOne(service, session, { kind, minute });
    await pull(0);
    value = 'null';
    expect(await pull(10)).toMatchObject({ state: 'certified', updated: 0 });
    expect(await pull(20)).toMatchObject({ state: 'certified', updated: 0 });
    value = null;
    expect(await pull(30)).toMatchObject({ state: 'certified', updated: 0 });
    expect(await eventsOf(session)).toEqual([]);
    value = '"Bas-Saint-Laurent"';
    expect(await pull(40)).toMatchObject({ updated: 60 });
    const [event] = await eventsOf(session);
    expect(event?.['fields']).toBe('{"region":[null,"Bas-Saint-Laurent"]}');
  });
});

test('another spelling of the same content is no event', async () => {
  const honest = await sandbox();
  const session = await mirror();
  const [id = 0] = honest.world.ids(kind);
  honest.world.update(kind, id, { credit: '10.00' });
  let rewrite = (body: string): string => body;
  const service = await rewriting(honest, (body) => rewrite(body));
  await pullOne(service, session, { kind });
  const spellings: ((body: string) => string)[] = [
    (body) => body.replaceAll('"credit":"10.00"', '"credit":"10"'),
    (body) => body.replaceAll('"credit":"10.00"', '"credit":10.0'),
    (body) => honest.world.ids(kind).reduce(withTextId, body),
    reordered,
  ];
  for (const [index, spelling] of spellings.entries()) {
    rewrite = spelling;
    const report = await pullOne(service, session, { kind, minute: 10 * index });
    expect(report, String(index)).toMatchObject({ updated: 0, unchanged: 60, created: 0 });
  }
  expect(await eventsOf(session)).toEqual([]);

  rewrite = (body) => body.replaceAll('"credit":"10.00"', '"credit":"10.01"');
  await pullOne(service, session, { kind, minute: 100 });
  expect((await eventsOf(session)).map(({ fields }) => fields)).toEqual(['{"credit":["10.00","10.01"]}']);
});

test.each(['12.0', '1.2e1'])(
  'a whole number that is then spelled %s fits its column no more: that is an event',
  async (spelled) => {
    const honest = await sandbox();
    const session = await mirror();
    honest.world.update(kind, honest.world.ids(kind)[0] ?? 0, { rate: 12 });
    let rate = '12';
    const service = await rewriting(honest, (body) => body.replace('"rate":12', `"rate":${rate}`));
    await pullOne(service, session, { kind });
    rate = spelled;
    await pullOne(service, session, { kind, minute: 10 });

    expect((await eventsOf(session)).map(({ fields }) => fields)).toEqual([`{"rate":[12,${spelled}]}`]);
  },
);

const withTextId = (body: string, id: number): string => body.replace(`{"id":${id},`, `{ "id" : "${id}" ,`);

function reordered(body: string): string {
  const { data, ...rest } = JSON.parse(body) as { data: JsonObject[] };
  const turned = data.map((record) => Object.fromEntries(Object.entries(record).reverse()));
  return JSON.stringify({ data: turned, ...rest });
}

test('a field that comes, and one that goes, is null on the other side', async () => {
  const service = await sandbox();
  const session = await mirror();
  const [id = 0] = service.world.ids(kind);
  await pullOne(service, session, { kind });
  service.world.update(kind, id, { mood: 'sunny' });
  await pullOne(service, session, { kind, minute: 10 });

  expect((await eventsOf(session)).map(({ fields }) => fields)).toEqual(['{"mood":[null,"sunny"]}']);
});

test('ignored fields make no event, and are in the row all the same', async () => {
  const service = await sandbox();
  const session = await mirror();
  const rules = { ignoreFields: { clients: ['city'] } };
  const [id = 0] = service.world.ids(kind);
  await pullOne(service, session, { kind, rules });

  service.world.update(kind, id, { city: 'Nulle part' });
  expect(await pullOne(service, session, { kind, rules, minute: 10 })).toMatchObject({
    updated: 0,
    unchanged: 60,
  });
  expect(await eventsOf(session)).toEqual([]);
  expect((await rowsOf(session, kind)).filter((row) => row['city'] === 'Nulle part')).toHaveLength(1);

  service.world.update(kind, id, { city: 'Matane', website: 'https://neuf.test' });
  await pullOne(service, session, { kind, rules, minute: 20 });
  const [event = {}] = await eventsOf(session);
  expect(Object.keys(JSON.parse(String(event['fields'])) as object)).toEqual(['website']);
  expect(event['after']).toBe(textOf(service, id));
});

test('money keeps its digits in before, after and fields', async () => {
  const honest = await sandbox();
  const session = await mirror();
  const [id = 0] = honest.world.ids(kind);
  honest.world.update(kind, id, { credit: 'AMOUNT' });
  let amount = '9007199254740993.10';
  const service = await rewriting(honest, (body) => body.replace('"credit":"AMOUNT"', `"credit":${amount}`));
  await pullOne(service, session, { kind });
  amount = '9007199254740993.11';
  await pullOne(service, session, { kind, minute: 10 });

  const [event = {}] = await eventsOf(session);
  expect(event['fields']).toBe('{"credit":[9007199254740993.10,9007199254740993.11]}');
  expect(String(event['before'])).toContain('9007199254740993.10');
  expect(String(event['after'])).toContain('9007199254740993.11');
});

test('observed_from of a deletion is no later than the deletion, although a write of ours hid it for long', async () => {
  const service = await sandbox();
  const session = await mirror();
  const [gone = 0] = service.world.ids(kind);
  await pullOne(service, session, { kind });
  await session.atomically((tx) =>
    tx.query(sql`insert into outbox (idempotency_key, kind, operation, record_id, payload, state)
      values ('k', 'clients', 'update', ${String(gone)}, '{}', 'unsettled')`),
  );
  service.world.remove(kind, gone); // Between 12:00 and 12:20.
  await pullOne(service, session, { kind, minute: 20 });
  await session.atomically((tx) => tx.query(sql`update outbox set state = 'done'`));
  for (const minute of [40, 60]) await pullOne(service, session, { kind, minute });

  const [event = {}] = await eventsOf(session);
  expect(event['change']).toBe('deleted');
  const from = event['observed_from'];
  expect(from === null || String(from) <= instantAt(20)).toBe(true);
  expect(from).not.toBe(instantAt(20));
});
