import { withoutEscapes } from '../../db/session/sql-text.ts';

/** Fragments of the reports' SQL, which both databases read alike. */

/** A record or a change as JSON, from which numbers, days and ids are read. */
export const parsedJson = (text: string): string => `json(${withoutEscapes(text)})`;

/** Columns that exist only once the service has sent their fields, and their types; an `id` may come as number or text. */
export type Fields = Readonly<Record<string, keyof typeof READ>>;

const READ = {
  bigint: (name: string) => name,
  text: (name: string) => `cast(${name} as text) as ${name}`,
  id: (name: string) => {
    const text = `cast(${name} as text)`;
    return `case when trim(${text}, '0123456789') = '' and length(${text}) between 1 and 18 then cast(${name} as bigint) end as ${name}`;
  },
};

/**
 * Parts of a `with` that read undocumented fields whether or not their columns exist (docs/decisions/0048): a natural join takes a
 * column from the view if it is there, else from `unseen`, which has no rows.
 */
export function rowsOf(
  view: string,
  part: string,
  fields: Fields,
  documented: readonly string[] = [],
): string {
  const columns = Object.entries(fields);
  const nulls = columns.map(([name, type]) => `cast(null as ${type === 'id' ? 'text' : type}) as ${name}`);
  const typed = columns.map(([name]) => `(select ${name} from ${view} where 1 = 0) as ${name}`);
  const values = columns.map(([name, type]) => READ[type](name));
  return `-- A field that the service has never sent has no column: then \`unseen_${part}\` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_${part} as (
  select ${nulls.join(',\n    ')}
),
unseen_${part} as (
  select ${typed.join(',\n    ')}
  from expected_${part} where 1 = 0
),
${part} as (
  select ${['id', ...documented, ...values].join(', ')}
  from ${view} natural left join unseen_${part}
)`;
}

/** 1 once the service has sent the field at all, else null: where nothing in a field says something. */
export const fieldIsKnown = (kind: string, field: string): string =>
  `(select 1 from bi_fields where kind = '${kind}' and field = '${field}')`;

/** Units of 0.0001 as a text with the point put in. */
export const exact = (units: string, as: string): string =>
  `case when ${units} < 0 then '-' else '' end || (abs(${units}) / 10000) || '.'
    || substr(cast(10000 + abs(${units}) % 10000 as text), 2) as ${as}_exact`;

/** An amount as the two columns that a report has of it. */
export const amount = (units: string, as: string): string => `${units} as ${as}_e4,\n  ${exact(units, as)}`;

/** The company that a record names; 0 if it names none. */
export const companyOf = (row: string): string => `coalesce(${row}.system_id, 0)`;

/** The month of a day or an instant; `none` without one. */
export const monthOf = (day: string): string => `coalesce(substr(cast(${day} as text), 1, 7), 'none')`;

/** A part of a `with`: each day of the calendar with the Monday of its week. */
export const WEEKS = `weeks as (
  select cast(date as text) as day,
    max(case when weekday = 1 then cast(date as text) end) over (partition by iso_year, iso_week) as week
  from bi_calendar
)`;

/** The day of an instant of ours by the clocks of the company (`schedules.timezone`), as text; null outside the calendar. */
export const localDayOf = (instant: string): string =>
  `(select cast(d.date as text) from bi_calendar d
      where d.ends_at > ${instant} and d.starts_at <= ${instant} order by d.ends_at limit 1)`;

/** The day on which a kind's list was last read to its end. */
export const readingOf = (kind: string): string =>
  `(select ${localDayOf('s.last_sweep_at')} from bi_sync_status s where s.kind = '${kind}')`;

/** Quantity × price in units of 0.0001, cut after four places; null where 64 bits cannot hold it. */
export const timesPrice = (quantity: string, price: string): string =>
  `case when abs(${quantity}) <= 4000000000000000000 / (10000 + abs(${price} / 10000))
      then ${quantity} * (${price} / 10000) + ${quantity} * (${price} % 10000) / 10000 end`;
