import type { Kind, ListedKind } from '../catalog/kind.ts';
import { describeKindName } from '../catalog/descriptions.ts';
import { identifier, literal } from '../db/session/sql-text.ts';
import { translateAll, type MessageKey } from '../lib/text/translator.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import { CALENDAR, dayOfInstant } from './calendar-days.ts';
import type { View, ViewColumn } from './create-views.ts';
import { MONTHS, WEEKDAYS, engineColumns } from './engine-columns.ts';

/** A view of a table of the mirror's own. */
const tableView = (
  table: 'changes' | 'issues' | 'drift' | 'fields' | 'dictionary' | 'relations',
  meaning: MessageKey,
  expressions: Readonly<Record<string, string>> = {},
  where = '',
): View => ({
  name: `bi_${table}`,
  meaning: translateAll(meaning),
  columns: engineColumns(table, expressions),
  from: `from ${table}${where}`,
});

/** The events; the open issues, each with the value as sent; drift; fields; and what explains all views. */
export const TABLE_VIEWS: readonly View[] = [
  tableView('changes', 'Changes of records, one row each, in the order in which they were found.', {
    record_id: 'record_number',
    day: dayOfInstant('changes.observed_at'),
  }),
  tableView(
    'issues',
    'Values and records that do not match the expected type, one row each, while the issue is open.',
    { record_id: 'record_number', sent: 'detail', since: 'first_seen_at' },
    ' where closed_at is null',
  ),
  tableView('drift', 'Changes in the answers of the service, one row each.'),
  tableView('fields', 'Every field that the service has ever sent, with its types.'),
  tableView('dictionary', 'Every column of every view: its type, unit and meaning.'),
  tableView('relations', 'References between views: which column refers to a record of which view.'),
];

/**
 * One row for each version of a record that the mirror knows: the content before the first event (part 0), and the content
 * after each event (part 1). The time during which a record was deleted has no row. No union of whole versions: in SQLite, only
 * a plain reference to a table's column keeps the declared type that clients rely on.
 */
export function historyView({ name }: Kind): View {
  const isFirst = `part.n = 0 and case when n.seq is null then k._deleted_at is null else n.before is not null end`;
  return {
    name: `bi_${name}_history`,
    meaning: translateAll('The versions of each record that the mirror knows. {kind}', {
      kind: describeKindName(name).meaning,
    }),
    columns: engineColumns('history', {
      id: 'k.id',
      valid_from: 'c.observed_at',
      valid_to: 'n.observed_at',
      change: 'c.change',
      record: versionContent(name),
      seq: 'c.seq',
    }),
    from: `
      from ${identifier(name)} k
      cross join (select 0 as n union all select 1) part
      left join changes c on part.n = 1 and ${isOf(name, 'c')}
      left join changes n on n.seq = ${nextEvent(name)}
      where (part.n = 1 and c.after is not null) or (${isFirst})`,
  };
}

/** The content of a version. SQLite before 3.41 gives a cast no type, but a sub-select that of its last part's column. */
const versionContent = (kind: string): string => `(
      select x.after from changes x where part.n = 1 and x.seq = c.seq
      union all select x.before from changes x where part.n = 0 and x.seq = n.seq
      union all select x._raw from ${identifier(kind)} x where part.n = 0 and n.seq is null and x.id = k.id)`;

/**
 * The event after `c`, or the record's first event, found through an index; `observed_at` never goes back, so this is the order
 * of `seq`.
 */
function nextEvent(kind: string): string {
  const last = `(coalesce(c.observed_at, '0001-01-01 00:00:00.000'), coalesce(c.seq, 0))`;
  return `(
        select x.seq from changes x where ${isOf(kind, 'x')} and (x.observed_at, x.seq) > ${last}
        order by x.observed_at, x.seq limit 1)`;
}

const isOf = (kind: string, events: string): string =>
  `${events}.kind = ${literal(kind)} and ${events}.record_id = cast(k.id as text)`;

const NOW: Record<Dialect, string> = { sqlite: `strftime('%Y-%m-%d %H:%M:%f', 'now')`, postgres: 'now()' };

const LAG: Record<Dialect, string> = {
  sqlite: `round((julianday('now') - julianday(s.last_sweep_at)) * 86400)`,
  postgres: `case when isfinite(s.last_sweep_at) then round(extract(epoch from now() - s.last_sweep_at)) end`,
};

/** One row per kind: how fresh and how sound its copy is. In SQLite the analysts' view reads an inner one, which has no types. */
export function syncStatusViews(kinds: readonly ListedKind[], dialect: Dialect): readonly View[] {
  const ofTable = ({ name, type }: ViewColumn) => (type === 'timestamp' ? `s.${name}` : null);
  const join = ' left join kind_state s on s.kind = n.kind';
  return typedViews(statusView(kinds, dialect), dialect, ofTable, join);
}

/**
 * In SQLite an inner view computes the values, and the view itself gives them their types. DuckDB takes a view that uses functions of
 * SQLite for texts, and reads any other view as its own SQL: so such functions stand in the inner view, and the types in this one.
 * @param typed The expression of a column that has its type already; null for a computed one.
 */
export function typedViews(
  view: View,
  dialect: Dialect,
  typed: (column: ViewColumn) => string | null = () => null,
  join = '',
): readonly View[] {
  if (dialect === 'postgres') return [view];
  const inner = view.name.replace(/^bi_(.*)/, '$1_now');
  const columns = view.columns.map((column) => {
    const value = `n.${identifier(column.name)}`;
    const computed = column.type === 'text' ? asText(value) : asInteger(`cast(${value} as bigint)`);
    return { ...column, expression: typed(column) ?? computed };
  });
  return [
    { ...view, name: inner, isInner: true },
    { ...view, columns, from: `from ${inner} n${join}` },
  ];
}

/** A value with the type of a table's column: SQLite before 3.41 gives a cast none, but a sub-select that of its last part. */
const typedAs = (value: string, table: string, column: string): string =>
  `(select ${value} union all select x.${column} from ${table} x where false)`;

export const asText = (value: string): string => typedAs(value, 'kind_state', 'kind');
export const asInteger = (value: string): string => typedAs(value, 'kind_state', 'tick');

/** In SQLite no union and no `count(*)`: DuckDB rewrites these in a way that SQLite does not understand. */
function statusView(kinds: readonly ListedKind[], dialect: Dialect): View {
  const names = kinds.map((kind) => `(${literal(kind.name)})`);
  const rows = kinds.map((kind) => {
    const all = `(select count(1) from ${identifier(kind.name)}`; // Through two indexes: a million rows would take seconds.
    return `when ${literal(kind.name)} then ${all}) - ${all} where _deleted_at is not null)`;
  });
  const isDead = `s.state = 'running' and s.lease_until < ${NOW[dialect]}`; // Its process has renewed no lease.
  const castToText = (expression: string): string => `cast(${expression} as text)`;
  return {
    name: 'bi_sync_status',
    meaning: translateAll('How fresh and how complete the copy of each record kind is.'),
    columns: engineColumns('sync_status', {
      kind: castToText('k.kind'),
      state: castToText(`case when ${isDead} then 'aborted' else coalesce(s.state, 'never') end`),
      reason: castToText(`case when ${isDead} then 'interrupted' else s.reason end`),
      rows: `cast(case k.kind ${rows.join(' ')} end as bigint)`,
      last_sweep_at: 's.last_sweep_at',
      certified_at: 's.certified_at',
      lag_seconds: `cast(${LAG[dialect]} as bigint)`,
      last_change_at: 's.last_change_at',
      open_issues: `cast((select count(1) from issues i where i.kind = k.kind and i.closed_at is null) as bigint)`,
      held_deletions: `cast((select count(1) from deletions d where d.kind = k.kind and d.state = 'held') as bigint)`,
    }),
    from: `from (select column1 as kind from (values ${names.join(', ')}) v) k left join kind_state s on s.kind = k.kind`,
  };
}

/** One row per day, with the instants at which it begins and ends by the clocks of the company. */
export const calendarView = (dialect: Dialect): View => {
  const name = (number: string, names: string): string =>
    dialect === 'sqlite' ? asText(nameOf(`n.${number}`, names)) : nameOf(`n.${number}`, names);
  return {
    name: 'bi_calendar',
    meaning: translateAll('The days from 2000 to 2049, one row each.'),
    columns: engineColumns('calendar', {
      month_en: name('month', MONTHS.en),
      month_fr: name('month', MONTHS.fr),
      weekday_en: name('weekday', WEEKDAYS.en),
      weekday_fr: name('weekday', WEEKDAYS.fr),
      fiscal_year: dialect === 'sqlite' ? asInteger(FISCAL_YEAR) : FISCAL_YEAR,
    }),
    from: `from ${CALENDAR} n`,
  };
};

const FIRST_MONTH = `coalesce((select cast(m.value as bigint) from mirror_meta m where m.key = 'calendar.yearBegins'), 1)`;
const FISCAL_YEAR = `n.year + case when ${FIRST_MONTH} > 1 and n.month >= ${FIRST_MONTH} then 1 else 0 end`;

function nameOf(number: string, names: string): string {
  const cases = names.split(' ').map((name, index) => `when ${index + 1} then ${literal(name)}`);
  return `case ${number} ${cases.join(' ')} end`;
}
