import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { schemaOptions } from '../../src/app/open-mirror.ts';
import type { Environment } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Session } from '../../src/db/session/session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { DATABASES } from '../store/databases.ts';

/** Instants of UTC around the ends of days, with the day that they have by a zone's clocks. */
const DAYS: Readonly<Record<string, readonly (readonly [instant: string, day: string])[]>> = {
  UTC: [
    ['2026-01-31 23:59:59.999', '2026-01-31'],
    ['2026-02-01 00:00:00.000', '2026-02-01'],
  ],
  'America/Toronto': [
    ['2026-02-01 04:59:59.999', '2026-01-31'], // The last evening of a month.
    ['2026-02-01 05:00:00.000', '2026-02-01'],
    ['2026-03-08 04:59:59.999', '2026-03-07'], // Clocks go forward at 2 in the morning.
    ['2026-03-08 05:00:00.000', '2026-03-08'],
    ['2026-03-09 03:59:59.999', '2026-03-08'],
    ['2026-03-09 04:00:00.000', '2026-03-09'],
    ['2026-11-01 03:59:59.999', '2026-10-31'], // They go back.
    ['2026-11-01 04:00:00.000', '2026-11-01'],
    ['2026-11-02 04:59:59.999', '2026-11-01'],
    ['2026-11-02 05:00:00.000', '2026-11-02'],
    ['2000-01-01 05:00:00.000', '2000-01-01'],
    ['2050-01-01 04:59:59.999', '2049-12-31'],
  ],
  'Asia/Kolkata': [
    ['2026-06-30 18:29:59.999', '2026-06-30'],
    ['2026-06-30 18:30:00.000', '2026-07-01'],
  ],
  'America/Havana': [
    ['2026-03-08 04:59:59.999', '2026-03-07'], // Their clocks skip midnight.
    ['2026-03-08 05:00:00.000', '2026-03-08'],
  ],
  'Pacific/Apia': [
    ['2011-12-30 09:59:59.999', '2011-12-29'], // A day that was skipped.
    ['2011-12-30 10:00:00.000', '2011-12-31'],
  ],
};

async function insertChange(session: Session, seq: number, instant: string): Promise<void> {
  const at = session.dialect === 'postgres' ? `${instant}+00` : instant;
  await session.atomically((tx) =>
    tx.query(sql`
      insert into changes (seq, kind, record_id, change, observed_at, fields, origin)
      values (${seq}, 'clients', '1', 'created', ${at}, '{}', 'service')`),
  );
}

describe.each(DATABASES)('%s: days of the time zone of the schedules', (_name, open) => {
  test.each(Object.entries(DAYS))('in %s', async (timezone, instants) => {
    const session = await open();
    await migrate(session, TWO_KINDS, { timezone });
    for (const [at, [instant]] of instants.entries()) await insertChange(session, at + 1, instant);
    const days = await session.query(sql`
      select c.day, d.date, cast(d.date as text) as text from bi_changes c
      left join bi_calendar d on d.starts_at <= c.observed_at and d.ends_at > c.observed_at order by c.seq`);
    expect(days.map(({ text }) => text)).toEqual(instants.map(([, day]) => day));
    expect(days.map(({ day }) => day)).toEqual(days.map(({ date }) => date));
  });

  test('outside the calendar there is none', async () => {
    const session = await open();
    await migrate(session, TWO_KINDS, { timezone: 'America/Toronto' });
    await insertChange(session, 1, '2050-01-01 05:00:00.000');
    expect(await session.query(sql`select day from bi_changes`)).toEqual([{ day: null }]);
  });

  test('they have no gap, follow the setting, and are numbered', async () => {
    const session = await open();
    expect(await migrate(session, TWO_KINDS, { timezone: 'America/Toronto' })).toBe(true);
    expect(await migrate(session, TWO_KINDS, { timezone: 'America/Toronto' })).toBe(false);
    const facts = sql`
      select count(*) as days, min(day_number) as first, max(day_number) as last,
        (select count(*) from bi_calendar a join bi_calendar b on b.day_number = a.day_number + 1 and b.starts_at = a.ends_at) as joints,
        (select cast(starts_at as text) from bi_calendar where cast(date as text) = '2026-03-01') as starts
      from bi_calendar`;
    const [row] = await session.query(facts);
    expect(row).toMatchObject({ days: 18_263, first: 1, last: 18_263, joints: 18_262 });
    expect(String(row?.['starts'])).toContain('05:00:00');
    expect(await migrate(session, TWO_KINDS, { timezone: 'UTC' })).toBe(true);
    expect(String((await session.query(facts))[0]?.['starts'])).toContain('00:00:00');
  });

  test('settings that name no time zone leave them as they were last set', async () => {
    const session = await open();
    const starts = sql`select cast(starts_at as text) as at from bi_calendar where cast(date as text) = '2026-03-01'`;
    const after = async (env: Environment): Promise<string> => {
      await migrate(session, TWO_KINDS, schemaOptions(loadConfig({ env })));
      return String((await session.query(starts))[0]?.['at']).slice(11, 19);
    };
    const zones = [{}, { BMS__SCHEDULES__TIMEZONE: 'America/Toronto' }, {}, { BMS__LANGUAGE: 'fr' }];
    const found = [];
    for (const env of [...zones, { BMS__SCHEDULES__TIMEZONE: 'UTC' }]) found.push(await after(env));
    expect(found).toEqual(['00:00:00', '05:00:00', '05:00:00', '05:00:00', '00:00:00']);
  });
});
