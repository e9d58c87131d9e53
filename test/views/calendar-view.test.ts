import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readDeclaredColumns } from '../../src/views/views.ts';
import { DATABASES } from '../store/databases.ts';
import { putRecords } from '../store/temp-mirror.ts';

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
    expect(types.slice(11).map((type) => type.slice(0, 9))).toEqual(['timestamp', 'timestamp']);
  });
});
