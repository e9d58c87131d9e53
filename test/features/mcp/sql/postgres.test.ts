import { expect, test } from 'vitest';
import { checkSelect } from '../../../../src/features/mcp/sql/postgres-select.ts';
import { pullFrom, sandbox } from '../../../pull/support.ts';
import { bystander } from '../../../support/postgres.ts';
import { askableMirror } from '../stage.ts';

const VIEWS = ['bi_clients', 'bi_products', 'bi_dictionary', 'bi_bookings'];

test('a column that the server takes for the call of a function is refused', async () => {
  const { session, url, ask } = await askableMirror('postgres');
  await pullFrom(await sandbox({ size: 5 }), session);
  const owner = await bystander(url);
  for (const name of ['told', 'upper'])
    await owner.query(
      `create function public.${name}(bi_clients) returns text language sql as 'select $1.name'`,
    );
  const sides = ['left', 'right'].map((side) => `${side}arg = bi_clients`);
  await owner.query(
    `create function public.added(bi_clients, bi_clients) returns text language sql as 'select $1.name'`,
  );
  await owner.query(`create operator public.+ (${sides.join(', ')}, function = public.added)`);
  for (const sql of [
    'select c.told from bi_clients c',
    'select c.upper from bi_clients c',
    'select c + c from bi_clients c',
    'select c.json_agg from bi_clients c',
    'select (select b.array_agg) from bi_clients b',
    'with x as (select c.pg_column_size as n from bi_clients c) select n from x',
  ])
    await expect.soft(ask('query', { sql }), sql).rejects.toMatchObject({ code: 'mcp.refused' });
  const { rows } = await ask('query', { sql: 'select c::text, c.name, c.* from bi_clients c -- all' });
  expect(rows).toHaveLength(5);
  // Nothing of the check stays.
  expect((await owner.query(`select 1 from pg_class where relname = 'asked'`)).rows).toEqual([]);
});

const months = Array.from({ length: 12 }, (_, at) => `'2026-${String(at + 1).padStart(2, '0')}'`);
const pivot = months.flatMap((month) =>
  ['price', 'distance', 'price'].map((column) => `sum(case when month = ${month} then ${column} * 2 end)`),
);

test('a pivot of twelve months with 36 products passes', async () => {
  const sql = `select ${pivot.join(', ')} from (select price, distance, substr(cast(date as text), 1, 7) as month from bi_bookings) r`;
  expect((await checkSelect(sql, VIEWS)).views).toEqual(['bi_bookings']);
});

test.each([
  [`select '1e99999'::numeric`, 'more than 40 digits'],
  ['select 1e41', 'more than 40 digits'],
  [`select 0x${'f'.repeat(50)}`, 'more than 40 digits'],
  [`select price * ' -1e+9_9999 ' from bi_products`, 'more than 40 digits'],
  ['select round(price, 41) from bi_products', 'at most 40'],
  ['select trunc(price, ordinal) from bi_products, bi_dictionary', 'at most 40'],
  [`select ${'2.0 * '.repeat(41)} 1`, 'multiplies or divides'],
  [`select ${'power(2.0, '.repeat(41)} 1${', 2)'.repeat(40)})`, 'multiplies or divides'],
  [
    'with recursive n(x) as (select 2.0 union all select x * x from n) select x from n',
    'multiplies or divides',
  ],
  [`select string_agg(name, ',') from bi_clients`, 'string_agg is not allowed: it gathers rows'],
])('%s is refused', async (sql, why) => {
  await expect(checkSelect(sql, VIEWS)).rejects.toThrow(why);
});

test.each([
  'select round(price, 2), round(price, -2), round(price, 0) from bi_products',
  `select '1e30', 1e39, '${'x'.repeat(100)}'`,
])('%s passes', async (sql) => {
  await expect(checkSelect(sql, VIEWS)).resolves.toBeDefined();
});
