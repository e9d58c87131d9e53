import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { decodeText } from '../../lib/text/decode-text.ts';
import { readWorkbook } from './read-workbook.ts';
import {
  MAX_BYTES,
  MAX_COLUMNS,
  collectRows,
  sheetTooLarge,
  unreadableSheet,
  type Sheet,
  type SheetCell,
} from './sheet-table.ts';

/**
 * Reads CSV, with a comma, semicolon or tab between its cells, or the first sheet of a workbook.
 *
 * @throws {UsageError} `usage.sheet` for a file that is neither, or too large.
 */
export async function readSheet(name: string, bytes: Uint8Array): Promise<Sheet> {
  try {
    if (bytes.length > MAX_BYTES) throw sheetTooLarge(`${MAX_BYTES} bytes`);
    return name.toLowerCase().endsWith('.xlsx')
      ? await readWorkbook(bytes)
      : await readCsv(decodeText(bytes));
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    if (error instanceof SyncError) throw unreadableSheet(`${name} ${error.message}.`, error);
    throw unreadableSheet(`${name} is neither a workbook nor CSV in UTF-8: ${error.message}`, error);
  }
}

/** The first line, which sets the separator for Excel. */
const SEPARATOR_LINE = /^"?sep=([;,\t])"?(?:\r\n?|\n)/i;

async function readCsv(file: string): Promise<Sheet> {
  const [line = '', named] = SEPARATOR_LINE.exec(file) ?? [];
  const text = file.slice(line.length);
  const [head = ''] = text.split(/[\r\n]/, 1);
  const separator = named ?? [';', '\t', ','].find((each) => head.includes(each)) ?? ',';
  const { add, toSheet } = collectRows();
  let position = 0;
  for (const cells of csvRows(text, separator)) {
    add(++position, cells);
    if (position % ROWS_A_TURN === 0) await ownEventLoopTurn();
  }
  return toSheet(separator === ';' ? ',' : '.');
}

/** Rows that are read between two turns of the event loop. */
const ROWS_A_TURN = 500;

/**
 * The rows of CSV with their cells that hold something, up to one more than a row may have: five million took 2.3 GB. A library for
 * it takes minutes for a million separators in a row.
 */
function* csvRows(text: string, separator: string): Generator<ReadonlyMap<number, SheetCell>> {
  const sign = new RegExp(`[${separator}\\r\\n]`, 'g');
  let cells = new Map<number, SheetCell>();
  for (let at = 0, place = 0; at < text.length; place++) {
    const quoted = text[at] === '"' ? endOfQuotes(text, at) : at;
    sign.lastIndex = quoted;
    const end = sign.exec(text)?.index ?? text.length;
    const inner = quoted === at ? '' : text.slice(at + 1, quoted - 1).replaceAll('""', '"');
    const value = inner + text.slice(quoted, end);
    if (value !== '' && place <= MAX_COLUMNS) cells.set(place, { text: value, isFormula: false });
    at = text.startsWith('\r\n', end) ? end + 2 : end + 1;
    if (text[end] === separator) continue;
    yield cells;
    cells = new Map();
    place = -1;
  }
  if (cells.size > 0) yield cells;
}

/** The place behind the quotes that close a cell; quotes within are doubled. */
function endOfQuotes(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) throw new Error('a cell that begins with a quotation mark has no end');
  return end + 1;
}
