import { describe, expect, test } from 'vitest';
import { IDIOMS } from '../../../src/features/mcp/sql/question.ts';
import { pullFrom, sandbox } from '../../pull/support.ts';
import { DATABASES, askableMirror, type DatabaseName } from './stage.ts';

/** What a middling model writes first, by habits of one database or the other, with where it is refused. */
const SENTENCES: readonly (readonly [select: string, refusedOn: readonly DatabaseName[]])[] = [
  ["select to_char(pickup_date, 'YYYY-MM') as month, sum(price_e4) from bi_bookings group by 1", ['sqlite']],
  ["select date_trunc('month', pickup_date) as month, count(*) from bi_bookings group by 1", ['sqlite']],
  ["select strftime('%Y-%m', pickup_date) as month, count(*) from bi_bookings group by 1", ['postgres']],
  ['select substr(pickup_date, 1, 7) as month, count(*) from bi_bookings group by 1', ['postgres']],
  ['select substr(cast(pickup_date as text), 1, 7) as month, count(*) from bi_bookings group by 1', []],
  ['select extract(year from pickup_date) as year, count(*) from bi_bookings group by 1', ['sqlite']],
  ["select count(*) from bi_clients where name ilike '%auto%'", ['sqlite']],
  ["select count(*) from bi_clients where lower(name) like '%auto%'", []],
  ['select name, credit::numeric from bi_clients', ['sqlite']],
  ['select sum(price_e4) / 10000.0 as total from bi_bookings', []],
  ['select round(sum(price_e4) / 10000.0, 2) as total from bi_bookings', []],
  ["select count(*) from bi_bookings where pickup_date >= date('2025-09-28', '-30 days')", ['postgres']],
  [
    "select count(*) from bi_bookings where pickup_date >= date '2025-09-28' - interval '30 days'",
    ['sqlite'],
  ],
  ["select julianday('2025-09-28') - julianday(max(pickup_date)) from bi_bookings", ['postgres']],
  ['select count(*) from bi_bookings where pickup_date < current_date', ['sqlite', 'postgres']],
  ["select count(*) from bi_bookings where pickup_date < date('now')", ['sqlite', 'postgres']],
  ["select ifnull(email, '-') from bi_clients", ['postgres']],
  ["select coalesce(email, '-') from bi_clients", []],
  ['select city, group_concat(name) from bi_clients group by city', ['postgres']],
  ["select city, string_agg(name, ', ') from bi_clients group by city", ['postgres']],
  ['select city, name, count(*) from bi_clients group by city', ['postgres']],
  ['select city, count(*) as n from bi_clients group by city having n > 1', ['postgres']],
  ['select count(*) filter (where inactive = 1) from bi_clients', []],
  ['select count(*) from bi_clients where inactive', ['postgres']],
  ['select distinct on (city) city, name from bi_clients order by city', ['sqlite']],
  ['select c.name from bi_clients c where c.city = "Laval"', ['sqlite', 'postgres']],
  ['select d.date from generate_series(1, 12) as d(date)', ['sqlite', 'postgres']],
  ['with recursive n(x) as (select 1 union all select x + 1 from n where x < 12) select x from n', []],
];

describe.each(DATABASES)('%s', (database) => {
  test('what a model writes first is answered, or refused with how this database writes it', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 10 }), session);
    for (const [select, refusedOn] of SENTENCES) {
      const answer = await ask('query', { sql: select }).catch((error: unknown) => error);
      const isRefused = refusedOn.includes(database);
      expect
        .soft(answer, select)
        .toMatchObject(
          isRefused
            ? { code: 'mcp.refused', hint: expect.stringContaining(IDIOMS[database]) as string }
            : { unproven: [] },
        );
    }
    expect(SENTENCES).toHaveLength(28);
  });

  test('each idiom that the description shows runs, and units divided by a whole number come with a hint', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 10 }), session);
    const [month, days] =
      database === 'sqlite'
        ? ['substr(pickup_date, 1, 7)', 'julianday(pickup_date) - julianday(pickup_date)']
        : ["to_char(pickup_date, 'YYYY-MM')", 'pickup_date - pickup_date'];
    const sums = (by: string): string =>
      `select ${month}, ${days}, sum(price_e4) / ${by} from bi_bookings group by 1, 2`;
    const exact = await ask('query', { sql: sums('10000.0') });
    expect(exact.rows.every(([found = null]) => found === null || /^\d{4}-\d\d$/.test(found))).toBe(true);
    expect(exact).not.toHaveProperty('hint');
    expect(await ask('query', { sql: sums('10000') })).toMatchObject({
      hint: expect.stringContaining('write / 10000.0') as string,
    });
  });
});
