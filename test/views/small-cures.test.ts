import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { excludeFields } from '../../src/catalog/exclude.ts';
import { migrate } from '../../src/views/migrate.ts';
import { DATABASES, at, mirrorIn, putChanges } from '../events/support.ts';
import { putRecords } from '../store/temp-mirror.ts';

describe.each(DATABASES)('%s', (database) => {
  test('a punch has the minutes between its times, past midnight too, and none while it is open', async () => {
    const { session } = await mirrorIn(database);
    const times: readonly (readonly [
      start: string | null,
      end: string | null,
      minutes: number | null,
      raw?: string,
    ])[] = [
      ['08:00:00', '16:30:00', 510],
      ['22:15:00', '01:45:00', 210],
      ['23:59:59', '00:00:00', 0],
      ['00:00:00', '23:59:00', 1439],
      ['09:00:00', '09:00:00', 0],
      ['09:00:00', null, null],
      [null, '09:00:00', null],
      ['00:00:00', '00:00:00', 0, '{"start_time":"00:00:00","end_time":"00:00:00"}'],
      ['00:00:00', '00:00:00', 1440, '{"start_time":"00:00:00","end_time":"24:00:00"}'],
      ['00:00:00', '00:00:00', 1440, '{"start_time":"00:00","end_time":"24:00"}'],
      [
        '00:00:00',
        '00:00:00',
        0,
        '{"start_time":"24:00","end_time":"00:00","note":"\\"end_time\\":\\"24:00"}',
      ],
      ['17:00:00', '00:00:00', 420, '{"start_time":"17:00","end_time":"24:00"}'],
    ];
    const rows = times.map(([start, end, , raw = '{}'], index) => ({
      _raw: raw,
      id: String(index + 1),
      start_time: start,
      end_time: end,
      _deleted_at: null,
    }));
    await session.atomically((tx) => putRecords(tx, 'punches', rows));
    const found = await session.query(sql`select minutes from bi_punches order by id`);
    expect(found.map(({ minutes }) => (minutes === null ? null : Number(minutes)))).toEqual(
      times.map(([, , minutes]) => minutes),
    );
  });

  test('without one of its times a punch has no minutes', async () => {
    const { session } = await mirrorIn(database);
    const kinds = KINDS.map((kind) => (kind.name === 'punches' ? excludeFields(kind, ['end_time']) : kind));
    await expect(migrate(session, kinds)).resolves.toBe(true);
  });

  test('deleted records have a view of their own, typed like that of the live ones', async () => {
    const { session } = await mirrorIn(database);
    const gone = database === 'PostgreSQL' ? '2026-03-01 12:00:00+00' : '2026-03-01 12:00:00.000';
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [
        { id: '1', code: '001', credit: '10.50', credit_e4: '105000', credit_real: 10.5, _deleted_at: null },
        { id: '2', code: '002', credit: '20.25', credit_e4: '202500', credit_real: 20.25, _deleted_at: gone },
      ]),
    );
    const deleted = sql`select id, code, credit_exact, credit_e4, cast(_deleted_at as text) as at from bi_deleted_clients`;
    const rows = await session.query(deleted);
    expect(rows).toMatchObject([{ code: '002', credit_exact: '20.25' }]);
    expect(String(rows[0]?.['at'])).toContain('2026-03-01 12:00:00');
    expect(await session.query(sql`select code from bi_clients`)).toEqual([{ code: '001' }]);
    await expect(
      session.atomically((tx) => tx.execute(`update bi_deleted_clients set code = 'x'`)),
    ).rejects.toThrow();
  });

  test('the search text finds a name whatever its accents and capitals', async () => {
    const { session } = await mirrorIn(database);
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '1', _search: '001garagequebecinc', _deleted_at: null }]),
    );
    const found = sql`select id from bi_clients where _search like '%quebec%'`;
    expect(await session.query(found)).toHaveLength(1);
  });

  test('changes of prices are typed, with who made those of our own', async () => {
    const { session } = await mirrorIn(database);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into outbox (id, idempotency_key, kind, operation, payload, pushed_by)
        values (7, 'k', 'products', 'update', '{}', 'anna')`),
    );
    const change = { kind: 'products', change: 'updated' } as const;
    await putChanges(
      session,
      { ...change, record_id: '5', observed_at: at('10:00'), fields: '{"price":["10.00","12.5000"]}' },
      {
        ...change,
        record_id: '6',
        observed_at: at('10:01'),
        origin: 'outbox:7',
        fields: String.raw`{"name_fr":["\u0000","\ud800 \\u0000"],"price":[null,-3.25],"special_price":["x","99999999999999999999"]}`,
      },
      { ...change, record_id: '7', observed_at: at('10:02'), fields: '{"name_fr":["price","\\"price\\""]}' },
      { ...change, kind: 'clients', record_id: '8', observed_at: at('10:03'), fields: '{"price":[1,2]}' },
    );
    const rows = await session.query(sql`
      select product_id, field, old_price, new_price, old_price_e4, new_price_e4, changed_by, cast(day as text) as day
      from bi_price_changes order by seq, field`);
    const texts = rows.map((row) =>
      Object.values(row).map((value) => (value === null ? null : String(value))),
    );
    const day = at('10:00').slice(0, 10);
    expect(texts).toEqual([
      ['5', 'price', '10.00', '12.5000', '100000', '125000', null, day],
      ['6', 'price', null, '-3.25', null, '-32500', 'anna', day],
      ['6', 'special_price', 'x', '99999999999999999999', null, null, 'anna', day],
    ]);
  });
});
