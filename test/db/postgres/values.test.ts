import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { SqlValue } from '../../../src/db/session/session.ts';
import { freshDatabaseUrl } from '../../support/postgres.ts';
import { openForTest } from '../../store/postgres-mirror.ts';

const DIGITS = '1234567890'.repeat(40);
const EVERY_CHARACTER = [
  ...Array.from({ length: 0x2ff }, (_, index) => String.fromCodePoint(index + 1)),
  '\u2028\u2029\u200b\u202e\ufeff\ufffd\uffff',
  '🧾👩‍👩‍👧‍👦\u{10ffff}',
].join('');

/** What is sent to a column of a type, and how it comes back. */
const TABLE: readonly [type: string, sent: SqlValue, read: SqlValue][] = [
  ['bigint', 0, 0],
  ['bigint', -0, 0],
  ['bigint', '42', 42],
  ['bigint', '9007199254740991', 9007199254740991],
  ['bigint', '9007199254740992', '9007199254740992'],
  ['bigint', '-9007199254740993', '-9007199254740993'],
  ['bigint', '9223372036854775807', '9223372036854775807'],
  ['bigint', '-9223372036854775808', '-9223372036854775808'],
  ['integer', 1, 1],
  ['numeric', '0', '0'],
  ['numeric', '-0.0001', '-0.0001'],
  ['numeric', '100.00', '100.00'],
  ['numeric', '123456789012345.6789', '123456789012345.6789'],
  ['numeric', DIGITS, DIGITS],
  ['numeric', `-${DIGITS}.${DIGITS}`, `-${DIGITS}.${DIGITS}`],
  ['timestamptz(3)', '2026-03-01 12:00:00.123', '2026-03-01 12:00:00.123'],
  ['timestamptz(3)', '2026-03-01 12:00:00.100', '2026-03-01 12:00:00.100'],
  ['timestamptz(3)', '2026-03-01 12:00:00.000', '2026-03-01 12:00:00.000'],
  ['timestamptz(3)', '2026-03-08 02:30:00.000', '2026-03-08 02:30:00.000'], // No such time in New York.
  ['timestamptz(3)', '2026-10-25 01:30:00.000', '2026-10-25 01:30:00.000'], // Twice in Paris.
  ['timestamptz(3)', '1883-11-18 00:00:00.001', '1883-11-18 00:00:00.001'],
  ['timestamptz(3)', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999'],
  ['timestamptz(3)', '0001-01-01 00:00:00.000', '0001-01-01 00:00:00.000'],
  ['timestamptz', '2026-03-01 12:00:00.123456', '2026-03-01 12:00:00.123'],
  ['timestamp', '2026-03-08 02:30:00', '2026-03-08 02:30:00'],
  ['timestamp', '0001-01-01 00:00:00', '0001-01-01 00:00:00'],
  ['date', '2026-02-28', '2026-02-28'],
  ['date', '0001-01-01', '0001-01-01'],
  ['date', '9999-12-31', '9999-12-31'],
  ['time', '23:59:59', '23:59:59'],
  ['time', '00:00:00', '00:00:00'],
  ['text', '', ''],
  ['text', 'NULL', 'NULL'],
  ['text', 'null', 'null'],
  ['text', '{}', '{}'],
  ['text', '{"a",b}', '{"a",b}'],
  ['text', String.raw`\ \\ \" \n \000 \x41`, String.raw`\ \\ \" \n \000 \x41`],
  ['text', ' leading and trailing \t\n', ' leading and trailing \t\n'],
  ['text', EVERY_CHARACTER, EVERY_CHARACTER],
  ['text', EVERY_CHARACTER.slice(0x1f), EVERY_CHARACTER.slice(0x1f)], // Without control characters.
  ['text', 12.5, '12.5'],
  ['double precision', 12.5, 12.5],
  ['boolean', 'true', 1],
  ['boolean', 'false', 0],
];

const TYPES = [...new Set(TABLE.map(([type]) => type))];

describe('values', () => {
  test('every type comes back exactly, from bulk verbs, transactions and reads, null too', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    for (const type of TYPES) {
      const cases = [...TABLE.filter(([of]) => of === type), [type, null, null] as const];
      const expected = cases.map(([, , read], id) => ({ id, value: read }));
      await session.atomically(async (tx) => {
        await tx.execute(`drop table if exists t; create table t (id bigint primary key, value ${type})`);
        const rows = cases.map(([, sent], id) => [id, sent]);
        await tx.upsertRows({ table: 't', columns: ['id', 'value'], rows });
        const found = await tx.readRowsById(
          't',
          ['value'],
          cases.map((_, id) => String(id)),
        );
        expect([...found.values()].map(([value]) => value)).toEqual(expected.map(({ value }) => value));
        expect(await tx.query(sql`select * from t order by id`)).toEqual(expected);
        await tx.upsertRows({
          table: 't',
          columns: ['id', 'value'],
          rows: found.size === 0 ? [] : [...found].map(([id, [value = null]]) => [id, value]),
        });
      });
      expect(await session.query(sql`select * from t order by id`)).toEqual(expected); // What was read was put again.
    }
  });

  test('every type is taken as a parameter of a statement', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    await session.atomically(async (tx) => {
      for (const [type, sent, read] of TABLE) {
        await tx.execute(`drop table if exists t; create table t (value ${type})`);
        await tx.query(
          sql`insert into t (value) values (${typeof sent === 'number' && type === 'text' ? String(sent) : sent})`,
        );
        expect(await tx.query(sql`select value from t`)).toEqual([{ value: read }]);
      }
    });
  });

  test('what counts and compares gives numbers, as in SQLite', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    expect(
      await session.query(
        sql`select count(*) as count, max(2) as max, 1 = 1 as yes, 1 = 2 as no, 2.5::float8 as real`,
      ),
    ).toEqual([{ count: 1, max: 2, yes: 1, no: 0, real: 2.5 }]);
  });

  test('columns of nothing but null, in every type', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    const columns = TYPES.map((_, index) => `c${index}`);
    const rows = [1, 2, 3].map((id) => [id, ...TYPES.map(() => null)]);
    const found = await session.atomically(async (tx) => {
      await tx.execute(
        `create table t (id bigint primary key, ${TYPES.map((type, index) => `c${index} ${type}`).join(', ')})`,
      );
      await tx.upsertRows({ table: 't', columns: ['id', ...columns], rows });
      return tx.readRowsById('t', ['id', ...columns], ['1', '2', '3']);
    });
    expect([...found.values()]).toEqual(rows);
  });

  test('a text that is longer than its column is refused, not cut', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    const put = session.atomically(async (tx) => {
      await tx.execute('create table t (id bigint primary key, name varchar(3))');
      await tx.upsertRows({ table: 't', columns: ['id', 'name'], rows: [[1, 'long']] });
    });
    await expect(put).rejects.toThrow('too long');
  });

  test('an unknown column or table is an error that names it', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    const put = session.atomically(async (tx) => {
      await tx.execute('create table t (id bigint primary key)');
      await tx.upsertRows({ table: 't', columns: ['id', 'nothing'], rows: [[1, 1]] });
    });
    await expect(put).rejects.toThrow('column "nothing" of relation "t" does not exist');
  });

  test('10,000 rows of many columns in one putRows; an id that is there twice takes its last values', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    const rows = Array.from({ length: 10_000 }, (_, index) => [index % 9_999, `row ${index}`, `${index}.50`]);
    await session.atomically(async (tx) => {
      await tx.execute('create table t (id bigint primary key, name text, amount numeric)');
      await tx.upsertRows({ table: 't', columns: ['id', 'name', 'amount'], rows });
    });
    expect(
      await session.query(
        sql`select count(*) as rows, min(amount) as least, (select name from t where id = 0) as first from t`,
      ),
    ).toEqual([{ rows: 9_999, least: '1.50', first: 'row 9999' }]);
  });
});
