import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { WorkbookWriter, type WorkbookWriterOptions } from '@cj-tech-master/excelts';
import type { SqlValue } from '../../db/session/session.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { isTechnical } from '../../views/column-headings.ts';
import { isNumberText, type ExportColumn, type ExportSource, type ExportType } from './read-rows.ts';
import { NUMBERS, hasFewDigits } from './text-encodings.ts';

/**
 * Writes rows as a workbook of Excel, batch after batch. If they are for people, headings can be filtered by, those of columns that
 * can be edited are marked, and columns of our own are hidden. Numbers, dates and times have their types; everything else is text,
 * never a formula. It is written no faster than the stream takes it: in memory, many could be as large as the mirror.
 *
 * @throws {SyncError} `export.too_many_rows` for more of them than a sheet has.
 */
export async function writeWorkbook(
  source: ExportSource,
  stream: Writable,
  signal: AbortSignal,
): Promise<void> {
  const { name, columns, batches } = source;
  const sink: unknown = stream; // The library's type names its own class; it takes any stream.
  const book = new WorkbookWriter({ stream: sink as Sink, useStyles: true, useSharedStrings: false });
  const sheet = addSheet(book, name, columns);
  let count = 0;
  for await (const batch of batches) {
    count += batch.length;
    if (count >= MAX_ROWS) throw tooManyRows(name);
    for (const values of batch)
      sheet.addRow(columns.map((column, index) => cellOf(column.type, values[index] ?? null))).commit();
    await turn(); // Lets the library write what it has compressed.
    if (stream.writableNeedDrain) await once(stream, 'drain', { signal });
  }
  if (columns.some((column) => column.heading !== undefined))
    sheet.autoFilter = { from: { row: 1, col: 1 }, to: { row: count + 1, col: columns.length } };
  sheet.commit();
  await book.commit();
}

type Sink = NonNullable<WorkbookWriterOptions['stream']>;

const MAX_ROWS = 1_048_576; // The header is one of them.

const tooManyRows = (name: string): SyncError =>
  new SyncError(`${name} has more rows than a sheet, which has ${MAX_ROWS}.`, {
    code: 'export.too_many_rows',
    hint: 'Write CSV: --format csv.',
  });

/** Adds a sheet with a frozen header row. Excel limits sheet names to 31 characters. */
function addSheet(book: WorkbookWriter, name: string, columns: readonly ExportColumn[]) {
  const sheet = book.addWorksheet(name.slice(0, 31), { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = columns.map(({ name, type, heading }) => {
    const { width, numFmt } = CELL_STYLES[type];
    const header = heading ?? name;
    const hidden = heading !== undefined && isTechnical(name);
    return { header, width: Math.max(width, header.length + 4), style: { numFmt }, hidden };
  });
  for (const [index, { isEditable }] of columns.entries())
    if (isEditable === true) sheet.getRow(1).getCell(index + 1).style = EDITABLE;
  return sheet;
}

const EDITABLE = { font: { bold: true, color: { argb: 'FF0B6B47' } } };

const NUMBER = { width: 14, numFmt: 'General' };
const TEXT = { width: 24, numFmt: '@' };

const CELL_STYLES: Readonly<Record<ExportType, typeof NUMBER>> = {
  integer: NUMBER,
  decimal: { ...NUMBER, numFmt: '0.00##' },
  real: NUMBER,
  untyped: NUMBER,
  date: { width: 12, numFmt: 'yyyy-mm-dd' },
  timestamp: { width: 20, numFmt: 'yyyy-mm-dd hh:mm:ss' },
  time: { width: 10, numFmt: 'hh:mm:ss' },
  exact: TEXT,
  text: TEXT,
};

/** Excel counts days from 1900, and the first two months of that year wrongly. */
const FIRST_DAY = '1900-03-01';
const LONGEST_TEXT = 32_767;

function cellOf(type: ExportType, value: SqlValue): number | string | Date | null {
  if (value === null) return null;
  const text = String(value);
  if (typeof value === 'number' || NUMBERS.includes(type))
    return isNumberText(text) && hasFewDigits(text) ? Number(text) : text;
  if (type === 'time') return parseInstant(`1899-12-30 ${text}`); // Day zero.
  if ((type === 'date' || type === 'timestamp') && text >= FIRST_DAY)
    return parseInstant(type === 'date' ? `${text} 00:00:00` : text);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;
}
