import { sql } from 'drizzle-orm';
import { hasRow } from '../db/rows/rows.ts';
import type { Transaction } from '../db/session/session.ts';
import { DAY_MS, createZoneOffset } from '../lib/time/zone-offset.ts';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';
import type { Dialect } from '../store/tables/kind-table.ts';

/**
 * Year, month, year and week of ISO 8601, and weekday of a day `d.date`, as each database computes them. SQLite has known the
 * week only since 3.46.
 */
const NUMBERS: Record<Dialect, readonly string[]> = {
  sqlite: [
    `strftime('%Y', d.date)`,
    `strftime('%m', d.date)`,
    `strftime('%Y', d.date, '-3 days', 'weekday 4')`,
    `(strftime('%j', d.date, '-3 days', 'weekday 4') - 1) / 7 + 1`,
    `(strftime('%w', d.date) + 6) % 7 + 1`,
  ],
  postgres: [
    'extract(year from d.date)',
    'extract(month from d.date)',
    'extract(isoyear from d.date)',
    'extract(week from d.date)',
    `to_char(d.date, 'ID')`,
  ],
};

const DAYS: Record<Dialect, string> = {
  sqlite: `
    from (with recursive days(date) as (
      select '2000-01-01' union all select date(date, '+1 day') from days where date < '2049-12-31')
    select date from days) d`,
  postgres: `
    from (select cast(day as date) as date
      from generate_series(timestamp '2000-01-01', timestamp '2049-12-31', interval '1 day') day) d`,
};

/** The table of days. It is derived, like a view: `migrate` fills it again if the time zone changes. */
export const CALENDAR = 'calendar_days';

/** The day of one of our instants by the clocks of the company, as SQL that both databases read alike; null outside the calendar. */
export const dayOfInstant = (instant: string): string =>
  `(select d.date from ${CALENDAR} d where d.ends_at > ${instant} and d.starts_at <= ${instant} order by d.ends_at limit 1)`;

/**
 * Fills the table of days by the clocks of a time zone, unless it is filled by this zone already; without a wanted zone, any will
 * do. No database computes days by itself: SQLite knows no zones, and PostgreSQL follows the session.
 */
export async function fillCalendar(tx: Transaction, wanted: string | undefined): Promise<void> {
  const { dialect } = tx;
  const instant = dialect === 'sqlite' ? 'timestamp' : 'timestamptz';
  await tx.execute(`
    create table if not exists ${CALENDAR} (date date primary key, year bigint, month bigint, iso_year bigint, iso_week bigint,
      weekday bigint, day_number bigint, starts_at ${instant}, ends_at ${instant})`);
  await tx.execute(`create index if not exists ${CALENDAR}_index on ${CALENDAR} (ends_at)`);
  const isFilled = await hasRow(tx, sql`select 1 from ${sql.identifier(CALENDAR)}`);
  const filledBy = await readMeta(tx, 'calendar');
  const timezone = wanted ?? filledBy ?? 'UTC';
  if (isFilled && filledBy === timezone) return;
  await tx.execute(`delete from ${CALENDAR}`);
  const numbers = [...NUMBERS[dialect], 'row_number() over (order by d.date)'].map(
    (number) => `cast(${number} as bigint)`,
  );
  const next = dialect === 'sqlite' ? `date(d.date, '+1 day')` : 'd.date + 1';
  const bounds = ['d.date', next].map((day) => startOf(day, dialect, timezone));
  const columns = ['d.date', ...numbers, ...bounds];
  await tx.execute(`insert into ${CALENDAR} select ${columns.join(', ')} ${DAYS[dialect]}`);
  await writeMeta(tx, 'calendar', timezone);
}

/** When a day begins, as SQL. */
function startOf(day: string, dialect: Dialect, timezone: string): string {
  const { last, changes } = offsetsOf(timezone);
  const cases = changes.map(({ until, seconds }) => `when ${day} < '${until}' then ${seconds}`);
  const seconds = cases.length === 0 ? `${last}` : `case ${cases.join(' ')} else ${last} end`;
  return dialect === 'sqlite'
    ? `strftime('%Y-%m-%d %H:%M:%f', ${day}, (${seconds}) || ' seconds')`
    : `(cast(${day} as timestamp) + make_interval(secs => ${seconds})) at time zone 'UTC'`;
}

/** How many seconds after midnight of UTC the days of a zone begin: until which day, and those after the last change. */
function offsetsOf(timezone: string) {
  const offsetAt = createZoneOffset(timezone, 'later');
  const secondsAt = (day: number): number => 0 - offsetAt(day) / 1000;
  const changes: { readonly until: string; readonly seconds: number }[] = [];
  let last = secondsAt(Date.UTC(2000, 0, 1));
  // By weeks, and by days where something changes: to ask for each day took a third of a small mirror's first run.
  for (let week = Date.UTC(2000, 0, 1); week <= Date.UTC(2050, 0, 1); week += WEEK_MS) {
    if (secondsAt(week + WEEK_MS) === last) continue;
    for (let day = week + DAY_MS; day <= week + WEEK_MS; day += DAY_MS) {
      const seconds = secondsAt(day);
      if (seconds !== last) changes.push({ until: new Date(day).toISOString().slice(0, 10), seconds: last });
      last = seconds;
    }
  }
  return { last, changes };
}

const WEEK_MS = 7 * DAY_MS;
