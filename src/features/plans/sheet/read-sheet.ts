import { SyncError, UsageError } from '../../../lib/sync-error.ts';
import { ownEventLoopTurn } from '../../../lib/time/event-loop-turn.ts';
import { decodeText } from '../../../lib/text/decode-text.ts';
import { readWorkbook } from './read-workbook.ts';
import {
  MAX_BYTES,
  collectRows,
  sheetTooLarge,
  unreadableSheet,
  type RowCollector,
  type Sheet,
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
  const rows = collectRows();
  await readCsvRows(text, separator, rows);
  return rows.toSheet(separator === ';' ? ',' : '.');
}

/** Rows that are read between two turns of the event loop. */
const ROWS_A_TURN = 500;

/** Reads the rows of CSV. A library takes minutes for a row of a million separators. */
async function readCsvRows(text: string, separator: string, rows: RowCollector): Promise<void> {
  const sign = new RegExp(`[${separator}\\r\\n]`, 'g');
  let position = 1;
  let index = 0;
  for (let at = 0; at < text.length;) {
    const quoted = text[at] === '"' ? endOfQuotes(text, at) : at;
    sign.lastIndex = quoted;
    const end = sign.exec(text)?.index ?? text.length;
    const inner = quoted === at ? '' : text.slice(at + 1, quoted - 1).replaceAll('""', '"');
    rows.addCell(index++, inner + text.slice(quoted, end), false);
    at = text.startsWith('\r\n', end) ? end + 2 : end + 1;
    if (text[end] === separator) continue;
    rows.endRow(position++);
    index = 0;
    if (position % ROWS_A_TURN === 0) await ownEventLoopTurn();
  }
  if (index > 0) rows.endRow(position); // The file ends with a separator.
}

/** The place behind the quotes that close a cell; quotes within are doubled. */
function endOfQuotes(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) throw new Error('a cell that begins with a quotation mark has no end');
  return end + 1;
}
