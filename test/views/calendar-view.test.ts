import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../src/views/migrate.ts';
import { readDeclaredColumns } from '../../src/views/views.ts';
import { DATABASES } from '../store/databases.ts';
import { putRecords } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';

/** Days at the edges of years, with the week that ISO 8601 gives them. */
const EDGES = [
  ['2000-01-01', 1999, 52, 'Saturday', 'samedi', 'janvier'],
  ['2009-12-31', 2009, 53, 'Thursday', 'jeudi', 'décembre'],
  ['2018-12-31', 2019, 1, 'Monday', 'lundi', 'décembre'],
  ['2024-02-29', 2024, 9, 'Thursday', 'jeudi', 'février'],
  ['2026-08-16', 2026, 33, 'Sunday', 'dimanche', 'août'],
  ['2049-12-31', 2049, 52, 'Friday', 'vendredi', 'décembre'],
];

describe.each(DATABASES)('%s: bi_calendar', (_name, open) => {
  test('has each day from 2000 to 2049 once, with the week of ISO 8601 and names in both languages', async () => {
    const session = await open();
    const [counts] = await session.query(
      sql`select count(*) as days, count(distinct date) as dates, min(year) as first, max(year) as last from bi_calendar`,
    );
    expect(counts).toEqual({ days: 18_263, dates: 18_263, first: 2000, last: 2049 });
    for (const [date, isoYear, isoWeek, english, french, month] of EDGES)
      expect(
        await session.query(sql`
          select iso_year, iso_week, weekday_en, weekday_fr, month_fr from bi_calendar where date = ${date}`),
      ).toEqual([
        { iso_year: isoYear, iso_week: isoWeek, weekday_en: english, weekday_fr: french, month_fr: month },
      ]);
  });

  test('joins with a date of the service, whose type its own date has', async () => {
    const session = await open();
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '1', creation_date: '2026-03-01', _deleted_at: null }]),
    );
    expect(
      await session.query(sql`
        select p.id, c.month_en from bi_clients p join bi_calendar c on c.date = p.creation_date`),
    ).toEqual([{ id: 1, month_en: 'March' }]);
    const types = (await readDeclaredColumns(session, 'bi_calendar')).map(({ type }) => type);
    expect(types.slice(0, 11)).toEqual([
      'date',
      ...Array<string>(5).fill('bigint'),
      ...Array<string>(4).fill('text'),
      'bigint',
    ]);
    expect(types.slice(11).map((type) => type.slice(0, 9))).toEqual(['timestamp', 'timestamp', 'bigint']);
  });
});

test.each(DATABASES)('%s: the fiscal year is named by the year in which it ends', async (_name, open) => {
  const session = await open();
  const yearOf = async (month: string | null): Promise<unknown[]> => {
    const kept = { 'settings.kinds': '{}', 'calendar.yearBegins': month ?? '1' };
    await migrate(session, TWO_KINDS, month === null ? {} : { kept });
    const rows = await session.query(
      sql`select fiscal_year from bi_calendar where date in ('2025-03-31', '2025-04-01', '2025-12-31') order by date`,
    );
    return rows.map(({ fiscal_year: year }) => Number(year));
  };
  expect(await yearOf(null)).toEqual([2025, 2025, 2025]);
  expect(await yearOf('4')).toEqual([2025, 2026, 2026]);
  expect(await yearOf('1')).toEqual([2025, 2025, 2025]);
});
