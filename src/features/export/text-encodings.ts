import type { SqlValue, Values } from '../../db/session/session.ts';
import { isNumberText, type ExportColumn, type ExportType } from './read-rows.ts';

/**
 * CSV by RFC 4180, batch after batch, with the header as `head`; null is an empty cell, an empty text is `""`.
 *
 * @param isRaw Leaves texts as they are. Otherwise an apostrophe stands before each text that a spreadsheet would run as a formula.
 */
export function csvEncoding(columns: readonly ExportColumn[], isRaw: boolean) {
  const guard = createFormulaGuard(';', isRaw);
  const quoted = createQuoting(/[",\r\n]/);
  const cellOf = (type: ExportType, value: string | number): string => {
    const isPlain = typeof value === 'number' || (type !== 'text' && isNumberText(value));
    return isPlain ? String(value) : quoted(guard(value));
  };
  return delimitedEncoding(columns, ',', cellOf);
}

/**
 * CSV that Excel opens by a double click where a comma stands before the decimals, as in French Canada. Digits that Excel would
 * round, and texts that it would take for numbers or dates, begin with a tab, which makes them texts and does not show.
 *
 * @param isRaw Leaves texts as they are: without tabs, and formulas too.
 */
export function excelEncoding(columns: readonly ExportColumn[], isRaw: boolean) {
  const guard = createFormulaGuard(',', isRaw);
  const quoted = createQuoting(/[";\t\r\n]/);
  const asText = (text: string): string => quoted(isRaw ? text : `\t${text}`);
  const cellOf = (type: ExportType, value: string | number): string => {
    const text = String(value);
    if ((typeof value === 'number' || NUMBERS.includes(type) || type === 'exact') && isNumberText(text)) {
      const withComma = text.replace('.', ',');
      return hasFewDigits(text) ? withComma : asText(withComma);
    }
    if (type === 'date' || type === 'time') return text;
    if (type === 'timestamp') return text.slice(0, WHOLE_SECONDS); // Excel shows no date in an instant with a fraction.
    const guarded = guard(text);
    return guarded === text && TYPED_FORMS.some((form) => form.test(text)) ? asText(text) : quoted(guarded);
  };
  const { head, rows } = delimitedEncoding(columns, ';', cellOf);
  return { head: `\ufeff${head}`, rows };
}

const WHOLE_SECONDS = 'YYYY-MM-DD HH:MM:SS'.length;

/** Texts that Excel reads as a number, an amount, a date, a time or a truth value: `000123`, `3-4`, `12 h`, `5 mars`, `1e5`, `VRAI`. */
const TYPED_FORMS = [
  /^[\s.,:/%$€'+-]*\d[\s\d.,:/%$€'+ehapm-]*$/i,
  /^\(\s*\d[\d.,\s]*\)$/,
  /^[\s\d./-]*(?:jan|f[eé]v|feb|mar|a[vp]r|ma[iy]|ju[inl]|ao[uû]|aug|sep|oct|nov|d[eé]c)[a-zéû]*[\s\d.,/-]*$/i,
  /^\s*(?:true|false|vrai|faux)\s*$/i,
];
const EXACT_DIGITS = 15;

/** Whether a spreadsheet keeps all digits of a number: it rounds to fifteen. */
export const hasFewDigits = (text: string): boolean =>
  (text.split(/e/i, 1)[0] ?? '').replace(/\D/g, '').replace(/^0+/, '').length <= EXACT_DIGITS;

/** The first sign of a formula, after optional spaces; East Asian keyboards write the wide ones. */
const SIGN = '[=+\\-@\uff1d\uff0b\uff0d\uff20]';
const FORMULA = new RegExp(`^\\s*(?:${SIGN}|[\\t\\r])`);

/**
 * Puts an apostrophe before what a spreadsheet would run as a formula, unless texts are to stay as they are.
 *
 * @param separator A spreadsheet of another country begins a cell behind it, even in quotes.
 */
function createFormulaGuard(separator: string, isRaw: boolean): (text: string) => string {
  const within = new RegExp(`([${separator}\\t\\r\\n])(?=[^\\S\\t\\r\\n]*${SIGN})`, 'g');
  return (text) => {
    if (isRaw) return text;
    const guarded = text.replace(within, "$1'");
    return FORMULA.test(text) ? `'${guarded}` : guarded;
  };
}

const createQuoting =
  (needsQuotes: RegExp) =>
  (text: string): string =>
    text === '' || needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

function delimitedEncoding(
  columns: readonly ExportColumn[],
  separator: string,
  cellOf: (type: ExportType, value: string | number) => string,
) {
  const line = (cells: readonly string[]): string => `${cells.join(separator)}\r\n`;
  const cell = (type: ExportType, value: SqlValue | undefined): string =>
    value === null || value === undefined ? '' : cellOf(type, value);
  return {
    head: line(columns.map((column) => cellOf('text', column.name))),
    rows: (batch: readonly Values[]): string =>
      batch.map((values) => line(columns.map((column, index) => cell(column.type, values[index])))).join(''),
  };
}

export const NUMBERS: readonly ExportType[] = ['integer', 'decimal', 'real'];

/** One JSON object per line: numbers and amounts with all their digits, dates and instants as text. */
export function ndjsonEncoding(columns: readonly ExportColumn[]) {
  const members = columns.map((column, index) => {
    const head = `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`;
    return (value: SqlValue): string => {
      const isNumber = typeof value === 'string' && NUMBERS.includes(column.type) && isNumberText(value);
      return head + (isNumber ? value : JSON.stringify(value));
    };
  });
  return {
    head: '',
    rows: (batch: readonly Values[]): string =>
      batch
        .map((values) => `${members.map((member, index) => member(values[index] ?? null)).join('')}}\n`)
        .join(''),
  };
}
