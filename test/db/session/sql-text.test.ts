import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { identifier, literal } from '../../../src/db/session/sql-text.ts';
import { sqlList } from '../../../src/db/session/sql-list.ts';
import { tempSession } from '../../store/temp-mirror.ts';

const anyName = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'));

test('G17: any name is quoted into exactly one column of that name', async () => {
  const session = tempSession();
  await fc.assert(
    fc.asyncProperty(
      // The driver's rows are plain objects, which have no member of this one name.
      fc.oneof(
        anyName.filter((name) => name !== '__proto__'),
        fc.constantFrom('"', '""', '"; drop table x; --', `'`),
      ),
      async (name) => {
        expect(await session.query(sql.raw(`select 1 as ${identifier(name)}`))).toEqual([{ [name]: 1 }]);
      },
    ),
  );
});

test('G17: any text is quoted into exactly that text', async () => {
  const session = tempSession();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anyName, fc.constantFrom('', `'`, `''`, `'; drop table x; --`)),
      async (text) => {
        expect(await session.query(sql.raw(`select ${literal(text)} as text`))).toEqual([{ text }]);
      },
    ),
  );
});

test('a list of any length finds its values and no others', async () => {
  const session = tempSession();
  const all = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => index));
  for (const length of [0, 1, 2, 3, 5, 8, 500]) {
    const list = sqlList(Array.from({ length }, (_, index) => 2 * index));
    const rows = await session.query(sql`select value from json_each(${all}) where value in (${list})`);
    expect(rows.map(({ value }) => value)).toEqual(Array.from({ length }, (_, index) => 2 * index));
  }
});
