import { columnType, type Kind } from '../catalog/kind.ts';
import { identifier, literal } from '../db/session/sql-text.ts';
import { translateAll } from '../lib/text/translator.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import type { View, ViewColumn } from './create-views.ts';
import { asInteger, asText, typedAs } from './engine-views.ts';
import { MONTHS, WEEKDAYS, engineColumns } from './engine-columns.ts';

/** Numbers of a day `d.date`, as each database computes them. SQLite has known the week of ISO 8601 only since 3.46. */
const NUMBERS = {
  sqlite: {
    year: `strftime('%Y', d.date)`,
    month: `strftime('%m', d.date)`,
    iso_year: `strftime('%Y', d.date, '-3 days', 'weekday 4')`,
    iso_week: `(strftime('%j', d.date, '-3 days', 'weekday 4') - 1) / 7 + 1`,
    weekday: `(strftime('%w', d.date) + 6) % 7 + 1`,
  },
  postgres: {
    year: 'extract(year from d.date)',
    month: 'extract(month from d.date)',
    iso_year: 'extract(isoyear from d.date)',
    iso_week: 'extract(week from d.date)',
    weekday: `to_char(d.date, 'ID')`,
  },
} as const satisfies Record<Dialect, Record<string, string>>;

const DAYS: Record<Dialect, string> = {
  sqlite: `
    from (with recursive days(date) as (
      select '2000-01-01' union all select date(date, '+1 day') from days where date < '2049-12-31')
    select date from days) d`,
  postgres: `
    from (select cast(day as date) as date
      from generate_series(timestamp '2000-01-01', timestamp '2049-12-31', interval '1 day') day) d`,
};

/** One row a day. In SQLite the analysts' view reads another one, which has no types: see `syncStatusViews`. */
export function calendarViews(kinds: readonly Kind[], dialect: Dialect): readonly View[] {
  const number = (name: keyof (typeof NUMBERS)[Dialect]): string =>
    `cast(${NUMBERS[dialect][name]} as ${dialect === 'sqlite' ? 'integer' : 'bigint'})`;
  const view: View = {
    name: 'bi_calendar',
    meaning: translateAll('The days from 2000 to 2049, one row each.'),
    columns: engineColumns('calendar', {
      date: 'd.date',
      year: number('year'),
      month: number('month'),
      iso_year: number('iso_year'),
      iso_week: number('iso_week'),
      weekday: number('weekday'),
      month_en: nameOf(number('month'), MONTHS.en),
      month_fr: nameOf(number('month'), MONTHS.fr),
      weekday_en: nameOf(number('weekday'), WEEKDAYS.en),
      weekday_fr: nameOf(number('weekday'), WEEKDAYS.fr),
    }),
    from: DAYS[dialect],
  };
  if (dialect === 'postgres') return [view];
  const columns = view.columns.map((column) => ({ ...column, expression: typedValue(column, kinds) }));
  return [
    { ...view, name: 'calendar_days', isInner: true },
    { ...view, columns, from: 'from calendar_days n' },
  ];
}

function nameOf(number: string, names: string): string {
  const cases = names.split(' ').map((name, index) => `when ${index + 1} then ${literal(name)}`);
  return `case ${number} ${cases.join(' ')} end`;
}

/** A date takes the type of a date of the service. */
function typedValue(column: ViewColumn, kinds: readonly Kind[]): string {
  const value = `n.${identifier(column.name)}`;
  if (column.type === 'text') return asText(value);
  if (column.type === 'integer') return asInteger(value);
  for (const { name: kind, fields } of kinds)
    for (const field of fields)
      if (columnType(field) === 'date') return typedAs(value, identifier(kind), identifier(field.name));
  return value;
}
