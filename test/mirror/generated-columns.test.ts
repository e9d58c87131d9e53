import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { tempSession } from './temp-mirror.ts';

test('an integer behind a virtual column is given to the digit, inserted and replaced', async () => {
  const session = tempSession();
  const integer = '900719925474099507';
  await session.atomically(async (tx) => {
    await tx.execute(`create table things (
      id BIGINT NOT NULL PRIMARY KEY, price TEXT,
      price_real REAL GENERATED ALWAYS AS (cast(price as real)) VIRTUAL, found_later BIGINT)`);
    const columns = ['id', 'price', 'found_later'];
    await tx.putRows({ table: 'things', columns, rows: [['1', '1.50', '7']] });
    await tx.putRows({ table: 'things', columns, rows: [['1', '2.50', integer]] });
  });
  expect(
    await session.query(sql`select price, cast(found_later as text) as found_later from things`),
  ).toEqual([{ price: '2.50', found_later: integer }]);
});
