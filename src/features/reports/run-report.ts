import { Big } from 'big.js';
import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/session/session.ts';
import { literal } from '../../db/session/sql-text.ts';
import { kindLabel } from '../../catalog/descriptions.ts';
import { isOff } from '../../store/kinds/status-store.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import { translatorFor, type Language, type MessageKey, type Translator } from '../../lib/text/translator.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/time/zone-offset.ts';
import { outcomeLabel } from '../../words/outcome-texts.ts';
import { findReport, REPORTS } from './read-reports.ts';
import { amountOf, describeMissing, kindsOfViews, VIEW, type Report } from './report.ts';

type Cell = string | null;

/** Answers a select: its columns, also where it has no rows, and every value as text. */
type ReadCells = (text: string) => Promise<{
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}>;

export interface ReportRequest {
  readonly name: string;
  /** The first and the last day, as `YYYY-MM-DD`; left out = all. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly language: Language;
}

/** The document of a report: its rows, with all that a reader must know about them. */
export type ReportAnswer = Awaited<ReturnType<typeof runReport>>;

/** The reports, with what each lacks in a mirror that has these views. */
export function listReports(views: readonly string[], language: Language) {
  return REPORTS.map((report) => ({
    ...headOf(report, language),
    from: report.from,
    to: report.to,
    missing: describeMissing(report, views, translatorFor(language)),
  }));
}

function headOf(report: Report, language: Language) {
  const { title, question } = language === 'fr' ? report.inFrench : report;
  const notes = notesOf(report, language).map((note) => note.replaceAll('`', ''));
  return { name: report.name, title, question, notes };
}

/** The notes of a report, whose code stands between backticks. */
export const notesOf = ({ inFrench, notes }: Report, language: Language): readonly string[] =>
  (language === 'fr' ? inFrench.notes : notes).map((note) => note.replaceAll(LINK, '$1'));

/** Links are for docs/reporting/reports.md; one in parentheses points to it alone. */
const LINK = / \(\[[^[\]]+\]\([^()]*\)\)|\[([^[\]]+)\]\([^()]*\)/g;

/**
 * Runs a report over the rows of the days that are asked for. Nothing is added up over companies or currencies, nor while it is
 * not known which statuses count.
 *
 * @param read Reads its rows, if not the database itself: an assistant's report has limits of time and rows.
 * @throws {UsageError} `report.absent`, `report.not_here` for one that this mirror cannot run, `usage.days`.
 */
export async function runReport(
  db: Queryable,
  views: readonly string[],
  request: ReportRequest,
  read = cellReader(db),
) {
  const { from = null, to = null } = request;
  const translator = translatorFor(request.language);
  const report = requireReport(request.name, views, translator);
  checkDays({ ...report, ...headOf(report, request.language) }, from, to);
  const text = report.sql.replaceAll(/cast\(null as text\) as (first|last)\b/g, (part, end: string) => {
    const day = end === 'first' ? from : to;
    return day === null ? part : `cast(${literal(day)} as text) as ${end}`;
  });
  const doubts = await readDoubts(cellReader(db), report, translator); // Before the rows, so that a sweep that ends meanwhile hides none.
  const summed = [...new Set(Object.values(report.metrics).map((metric) => metric.column))];
  const answer = await read(withSums(text, report, summed));
  const place = answer.columns.indexOf(PLACE);
  const columns = answer.columns.slice(0, place);
  const rows = answer.rows
    .filter((r) => r[place] !== null)
    .sort((a, b) => Number(a[place]) - Number(b[place]));
  const statuses = answer.rows.flatMap((row) => (row[place] === null ? [row.slice(-STATUS.length)] : []));
  const counted = report.counts.map((meaning) => countedBy(meaning, statuses));
  const { t } = translator;
  const wanted = counted.filter(({ isWanted }) => isWanted).map(({ setting }) => setting);
  const left = counted.flatMap(({ isWanted, uncounted }) => (isWanted ? [] : uncounted)).join(', ');
  const unknown = (wanted.length > 0 ? [] : summed)
    .map((column) => ({
      column: column.replace(/_e4$/, ''),
      count: rows.filter((row) => row[columns.indexOf(column)] === null).length,
    }))
    .filter(({ count }) => count > 0);
  return {
    ...headOf(report, request.language),
    from,
    to,
    kinds: doubts.kinds,
    columns,
    rows: rows.map((row) => row.slice(0, columns.length)),
    /** The sums of the columns that add up, of each company and currency by itself; none while a setting is wanted. */
    totals: wanted.length > 0 ? [] : readTotals({ ...answer, rows }, summed, apart(report)),
    /** The months or weeks of which the days asked for are a part. */
    partial: cutGroups(report.time, from, to),
    /** The settings that must say which statuses count. */
    wanted,
    remarks: [
      ...doubts.remarks,
      ...wanted.map((setting) => t(WANTED, { setting })),
      ...unknown.map((facts) =>
        t('{count, plural, one {# row has} other {# rows have}} no {column}: not in its total.', facts),
      ),
      ...(left === '' ? [] : [t('Left out, counted over all days: {statuses}.', { statuses: left })]),
    ],
  };
}

function requireReport(name: string, views: readonly string[], translator: Translator): Report {
  const names = REPORTS.map((report) => report.name);
  const report = findReport(name);
  if (report === undefined)
    throw new UsageError(`Unknown report "${name}"${didYouMean(name, names) || '.'}`, {
      code: 'report.absent',
      hint: `The reports are: ${names.join(', ')}.`,
    });
  const missing = describeMissing(report, views, translator);
  if (missing === null) return report;
  throw new UsageError(missing, {
    code: 'report.not_here',
    hint: 'Choose another report, or ask an admin to read these kinds (docs/further-kinds.md).',
  });
}

/** Finds lists of a report that are not certified, and amounts that have no units of 0.0001: its figures may lack them. */
async function readDoubts(read: ReadCells, { sql: text }: Report, translator: Translator) {
  const { rows } = await read('select kind, state, reason from bi_sync_status');
  const lists = rows.map((row) => ({ name: String(row[0]), state: String(row[1]), reason: row[2] ?? null }));
  const views = text.match(VIEW) ?? [];
  const kinds = kindsOfViews(views, lists, text);
  const unproven = lists
    .filter((one) => one.state !== 'certified' && (kinds?.includes(one.name) ?? !isOff(one)))
    .map((one) => `${kindLabel(translator, one.name)} (${outcomeLabel(one, translator)})`)
    .sort();
  const list = (names: readonly string[]): string => ['', ...names].map(literal).join(', ');
  const columns = await read(`
    select view, replace("column", '_exact', '') from bi_dictionary where view in (${list(views)})
    and "column" in (${list(text.match(/\b\w+_e4\b/g) ?? []).replaceAll('_e4', '_exact')})`);
  const counts = columns.rows.map((row) => {
    const [view = '', amount = ''] = row.map(String);
    return `select '${view}.${amount}' as amount, (select count(*) from bi_issues where code = 'not_a_decimal' and 'bi_' || kind = '${view}'
      and field = '${amount}') + (select count(*) from ${view} where ${amount}_exact is not null and ${amount}_e4 is null) as lost`;
  });
  const parts = counts.join(' union ') || `select '' as amount, 0 as lost`;
  const lost = (await read(`select * from (${parts}) as found where lost > 0`)).rows;
  return {
    kinds,
    remarks: [
      ...(unproven.length === 0 ? [] : [translator.t(UNPROVEN, { kinds: unproven.join(', ') })]),
      ...lost.map(([amount, n]) => translator.t(LOST, { amount: String(amount), n: Number(n) })),
    ],
  };
}

const WANTED: MessageKey =
  'Set {setting} to the statuses that count: it names none that occurs, so each has rows of its own and nothing is added up.';
const UNPROVEN: MessageKey = 'Not proven complete: {kinds}. These figures may lack records.';
const LOST: MessageKey =
  'Over all days, {amount} has {n, plural, one {# value} other {# values}} that no sum counts: of more than four decimals, too large or unreadable.';

function checkDays(report: Report, from: string | null, to: string | null): void {
  const refuse = (message: string, hint: string): never => {
    throw new UsageError(message, { code: 'usage.days', hint });
  };
  for (const day of [from, to])
    if (day !== null && !isCalendarDate(day)) refuse(`"${day}" is not a day.`, 'Write it as 2026-03-31.');
  if (from !== null && to !== null && from > to)
    refuse(`${from} is after ${to}.`, 'Write the earlier day first.');
  if (from !== null && !report.from)
    refuse(`${report.title} takes no first day.`, report.to ? 'Ask for the last day alone.' : PRESENT);
  if (to !== null && !report.to) refuse(`${report.title} takes no last day.`, PRESENT);
}

const PRESENT = 'It shows the present.';

const PLACE = 'place_of_row';

/** The keys over which nothing is added up. */
export const apart = ({ keys }: Pick<Report, 'keys'>): readonly string[] =>
  keys.filter((key) => key === 'company' || key === 'currency');

/** What is read of `bi_statuses`. */
const STATUS = ['kind', 'status', 'records', 'counts_as'];

/**
 * Adds the sums of some columns, over all rows of the row's company and currency: in two parts each, which 64 bits hold. First come
 * the statuses by which it counts, so that both are of one reading, and the first row of each sum, which an answer always has.
 */
function withSums(text: string, report: Report, summed: readonly string[]): string {
  const keys = apart(report).join(', ');
  const over = `over (${keys === '' ? '' : `partition by ${keys}`})`;
  const sums = summed.map(
    (column, at) =>
      `sum(${column} / ${PART}) ${over} as high_${at}, sum(${column} % ${PART}) ${over} as low_${at}`,
  );
  const status = STATUS.map((column) => `s.${column} as counted_${column}`);
  const statuses = `full join (select ${status.join(', ')} from bi_statuses s) counted on 1 = 0`;
  return `select ${[`numbered.*`, ...sums, ...(report.counts.length === 0 ? [] : ['counted.*'])].join(', ')}
    from (select answer.*, row_number() over () as ${PLACE} from (${text}) as answer) as numbered
    ${report.counts.length === 0 ? '' : statuses} order by coalesce(case when ${PLACE} > min(${PLACE}) ${over} then ${PLACE} end, 0)`;
}

const PART = 1_000_000_000;

/** The totals of each company and currency, as the first of its rows has them. */
function readTotals(
  { columns, rows }: Awaited<ReturnType<ReadCells>>,
  summed: readonly string[],
  keys: readonly string[],
): readonly Readonly<Record<string, Cell>>[] {
  const place = columns.indexOf(PLACE);
  const keysOf = (row: readonly Cell[]) =>
    keys.map((key): [string, Cell] => [key, row[columns.indexOf(key)] ?? null]);
  const firsts = Map.groupBy(rows, (row) => keysOf(row).join());
  return [...firsts.values()]
    .map(([row = []]) => {
      const totals = summed.map((column, at): [string, Cell] => {
        const [high = null, low = null] = row.slice(place + 1 + 2 * at);
        const sum = high === null || low === null ? null : new Big(high).times(PART).plus(low);
        if (!column.endsWith('_e4')) return [column, sum?.toFixed() ?? null];
        return [column.replace(/_e4$/, '_exact'), sum && amountOf(sum)];
      });
      return Object.fromEntries([...keysOf(row), ...totals]);
    })
    .sort((one, other) => Number(one['company']) - Number(other['company']));
}

/** Whether the setting of what counts is wanted, and the statuses that do not count. */
function countedBy(meaning: string, statuses: readonly (readonly Cell[])[]) {
  const ofKind = statuses.filter(([kind]) => kind === (meaning === 'bought' ? 'purchases' : 'sales'));
  const uncounted = ofKind.filter(([, , , countsAs]) => !(countsAs ?? '').split(', ').includes(meaning));
  return {
    setting: `reports.${meaning}`,
    isWanted: ofKind.length > 0 && uncounted.length === ofKind.length,
    uncounted: uncounted.map(([kind, status, records]) => `${kind} ${status} (${records})`).sort(),
  };
}

/** The groups that begin before the first day, or end after the last one. */
function cutGroups(time: Report['time'], from: string | null, to: string | null): readonly string[] {
  if (time === null || time === 'day') return [];
  const groupOf = GROUPS[time];
  const cut = (day: string | null, outside: number): string[] =>
    day !== null && groupOf(day) === groupOf(dayAfter(day, outside)) ? [groupOf(day)] : [];
  return [...new Set([...cut(from, -1), ...cut(to, 1)])];
}

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

const GROUPS = {
  week: (day: string): string => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7)),
  month: (day: string): string => day.slice(0, 7),
  quarter: (day: string): string => `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`,
};

/** Reads cells of a mirror. */
export const cellReader =
  (db: Queryable): ReadCells =>
  async (text) => {
    const rows = await db.query(sql.raw(text));
    const [first] =
      rows.length > 0
        ? rows
        : await db.query(sql.raw(`select a.* from (select 1) o left join (${text}) a on 1 = 1`));
    const toCells = (row: object): Cell[] =>
      Object.values(row).map((value) => (value === null ? null : String(value)));
    return { columns: Object.keys(first ?? {}), rows: rows.map(toCells) };
  };
