import { Workbook } from '@cj-tech-master/excelts';
import { parseCsv } from '@cj-tech-master/excelts/csv';
import { UsageError } from '../../lib/sync-error.ts';
import { instantText } from '../../lib/time/clock.ts';

/** A cell as text; a blank one is empty. */
export interface SheetCell {
  readonly text: string;
  readonly isFormula: boolean;
}

/** The first sheet of a file: its columns, and its rows below them with the numbers that a spreadsheet shows. */
export interface Sheet {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly position: number; readonly cells: readonly SheetCell[] }[];
  /** What stands before the decimals. */
  readonly mark: ',' | '.';
}

/**
 * Reads CSV, with a comma, semicolon or tab between its cells, or the first sheet of a workbook.
 *
 * @throws {UsageError} `usage.sheet` for a file that is neither.
 */
export async function readSheet(name: string, bytes: Uint8Array): Promise<Sheet> {
  try {
    if (name.toLowerCase().endsWith('.xlsx')) return await readWorkbook(bytes);
    return readCsv(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw unreadable(`${name} is neither a workbook nor CSV in UTF-8: ${error.message}`, error);
  }
}

const unreadable = (message: string, cause?: unknown): UsageError =>
  new UsageError(message, {
    code: 'usage.sheet',
    hint: 'Save it as a workbook (.xlsx), or as CSV in UTF-8.',
    cause,
  });

function readCsv(text: string): Sheet {
  const [head = ''] = text.split(/\r?\n/, 1);
  const separator = [';', '\t', ','].find((each) => head.includes(each)) ?? ',';
  const lines = parseCsv(text, { delimiter: separator, skipEmptyLines: false });
  const mark = separator === ';' ? ',' : '.';
  return sheetOf(
    lines.map((line) => line.map((cell) => ({ text: cell, isFormula: false }))),
    mark,
  );
}

async function readWorkbook(bytes: Uint8Array): Promise<Sheet> {
  const book = new Workbook();
  await book.xlsx.load(bytes);
  const [sheet] = book.worksheets;
  if (sheet === undefined) throw unreadable('The workbook has no sheet.');
  const lines = Array.from({ length: sheet.rowCount }, (_, row) =>
    Array.from({ length: sheet.columnCount }, (__, column) => {
      const cell = sheet.getCell(row + 1, column + 1);
      return { text: textOf(cell.value), isFormula: cell.formula !== undefined && cell.formula !== '' };
    }),
  );
  return sheetOf(lines, '.');
}

/** Day zero of a workbook: a time of day is an instant of it. */
const DAY_ZERO = /^1899-12-3\d /;

function textOf(value: unknown): string {
  if (value instanceof Date) return instantIn(value);
  if (typeof value === 'object' && value !== null) return styledText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : '';
}

function instantIn(value: Date): string {
  const text = instantText(value).replace(/\.000$/, '');
  return DAY_ZERO.test(text) ? text.replace(DAY_ZERO, '') : text.replace(/ 00:00:00$/, '');
}

/** A text with fonts, a link, or an error. */
function styledText(value: object): string {
  if ('richText' in value && Array.isArray(value.richText))
    return value.richText.map((run: { readonly text?: string }) => run.text ?? '').join('');
  if ('text' in value) return textOf(value.text);
  return 'error' in value ? textOf(value.error) : '';
}

/** @throws {UsageError} `usage.sheet` where the first row does not name every column once. */
function sheetOf(lines: readonly (readonly SheetCell[])[], mark: Sheet['mark']): Sheet {
  const [head = [], ...rest] = lines;
  const names = head.map(({ text }) => text.replace(/^\ufeff/, '').trim());
  const columns = names.slice(0, names.findLastIndex((name) => name !== '') + 1);
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index);
  if (twice !== undefined) throw unreadable(`Two columns are named ${twice}.`);
  if (!columns.includes('id')) throw unreadable('The first row does not name the columns, id among them.');
  const rows = rest.map((cells, index) => ({ position: index + 2, cells }));
  return {
    columns,
    rows: rows.filter(({ cells }) => cells.some(({ text, isFormula }) => text !== '' || isFormula)),
    mark,
  };
}
