import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { DATABASES, mirrorIn } from '../events/support.ts';

const LINES = 30_000;

/** The SQL of docs/analysts.md that prints a sum exactly. */
const DOCUMENTED = /```sql\n(select [^`]*as total from[^`]*)```/.exec(
  readFileSync(new URL('../../docs/analysts.md', import.meta.url), 'utf8'),
)?.[1];

const NUMBERS = {
  SQLite: sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${LINES}) select i from n)`,
  PostgreSQL: sql`(select i from generate_series(1, cast(${LINES} as integer)) i)`,
};

/** The lines' totals in units of 0.0001: of both signs, few of 14 digits, all of up to four places. */
const unitsOf = (line: bigint): bigint => {
  const units = (line * 7_919n) % 1_000_003n;
  if (line % 5_000n === 0n) return 99_999_999_999_999_9999n;
  return line % 3n === 0n ? -units : units;
};
const UNITS = sql`
  case when i % 5000 = 0 then 999999999999999999 else (i * cast(7919 as bigint)) % 1000003 * case when i % 3 = 0 then -1 else 1 end end`;

function exactText(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(5, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

test.each(DATABASES)(
  '%s: the documented sum of 30,000 lines prints every digit, for each product',
  async (database) => {
    const { session } = await mirrorIn(database);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into purchase_products (id, product_id, produit_total_e4, _raw, _first_seen_at, _changed_at, _response)
        select i, i % 3, ${UNITS}, '{}', '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1
        from ${NUMBERS[database]} lines`),
    );
    await session.atomically((tx) =>
      tx.query(sql`
        insert into products (id, code, _raw, _first_seen_at, _changed_at, _response)
        select i - 1, 'P' || i, '{}', '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1
        from ${NUMBERS[database]} lines where i <= 3`),
    );
    const sums = [0n, 0n, 0n];
    for (let line = 1n; line <= LINES; line++) {
      const product = Number(line % 3n);
      sums[product] = (sums[product] ?? 0n) + unitsOf(line);
    }
    const rows = await session.query(sql.raw(DOCUMENTED ?? 'select no documented sum'));
    const totals = rows.map((row) => [row['code'], row['total']]).sort();
    expect(totals).toEqual(sums.map((units, at) => [`P${at + 1}`, exactText(units)]));
    expect(exactText(sums[0] ?? 0n)).toMatch(/^-?\d+\.\d{4}$/);
  },
);
