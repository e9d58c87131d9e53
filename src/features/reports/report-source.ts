import { Readable } from 'node:stream';
import { findReport } from './read-reports.ts';
import { amountOf } from './report.ts';
import type { ReportAnswer } from './run-report.ts';
import type { ExportColumn, ExportSource } from '../export/read-rows.ts';

type Table = Pick<ReportAnswer, 'columns' | 'rows'>;

/** The rows of a report, to be written as a file. @param isForPeople Whether amounts stand in one column each, as on the page. */
export function reportSource(answer: ReportAnswer, isForPeople: boolean): ExportSource {
  const { name } = answer;
  const { columns, rows } = isForPeople ? tableForPeople(answer) : answer;
  const { keys = [], labels = [] } = findReport(name) ?? {};
  const amounts = new Set(answer.columns.filter(isAmount).map(amountName));
  const typeOf = (column: string): ExportColumn['type'] => {
    if (isForPeople ? amounts.has(column) : column.endsWith('_exact')) return 'decimal';
    const isName = labels.includes(column) || keys.includes(column);
    return isName && !/^company$|^branch$|_id$/.test(column) ? 'text' : 'integer'; // Anything but a number stays a text.
  };
  return {
    name,
    columns: columns.map((column) => ({ name: column, type: typeOf(column) })),
    batches: Readable.from([rows]),
    dictionary: [],
  };
}

const isAmount = (column: string): boolean => /_(?:e4|exact)$/.test(column);
const amountName = (column: string): string => column.replace(/_(?:e4|exact)$/, '');

/** The rows with one column for each amount, in whole units under its plain name. */
export function tableForPeople({ columns, rows }: Table): Table {
  const shown = columns.flatMap((column, at) =>
    column.endsWith('_e4') && columns.includes(`${amountName(column)}_exact`) ? [] : [{ column, at }],
  );
  const cellOf = (row: Table['rows'][number], { column, at }: (typeof shown)[number]) => {
    const cell = row[at] ?? null;
    return cell === null || !column.endsWith('_e4') ? cell : amountOf(cell);
  };
  return {
    columns: shown.map(({ column }) => amountName(column)),
    rows: rows.map((row) => shown.map((each) => cellOf(row, each))),
  };
}
