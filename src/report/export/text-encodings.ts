import type { SqlValue, Values } from '../../db/session/session.ts';
import { isNumberText } from './read-rows.ts';
import type { ExportColumn, ExportType } from './read-rows.ts';

/** A spreadsheet takes such a text for a formula, after spaces too. */
const FORMULA = /^\s*[=+\-@]|^\s*[\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * CSV by RFC 4180, batch after batch, with the header as `head`; null is an empty cell, an empty text is `""`.
 *
 * @param isRaw Leaves texts as they are. Otherwise a text that a spreadsheet would run as a formula begins with an apostrophe.
 */
export function csvEncoding(columns: readonly ExportColumn[], isRaw: boolean) {
  const guard = (text: string): string => (!isRaw && FORMULA.test(text) ? `'${text}` : text);
  const cells = columns.map(({ type }) => (value: SqlValue): string => {
    if (value === null) return '';
    const isPlain = typeof value === 'number' || (type !== 'text' && isNumberText(value));
    return isPlain ? String(value) : quoted(guard(value));
  });
  return {
    head: line(columns.map(({ name }) => quoted(guard(name)))),
    rows: (batch: readonly Values[]): string =>
      batch.map((values) => line(cells.map((cell, index) => cell(values[index] ?? null)))).join(''),
  };
}

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const NUMBERS: readonly ExportType[] = ['integer', 'decimal', 'real'];

/** One JSON object a line: numbers and amounts with all their digits, dates and instants as text. */
export function ndjsonEncoding(columns: readonly ExportColumn[]) {
  const members = columns.map(({ name, type }, index) => {
    const head = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    return (value: SqlValue): string => {
      const isNumber = typeof value === 'string' && NUMBERS.includes(type) && isNumberText(value);
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
