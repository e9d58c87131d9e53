import { UsageError } from '../../../lib/sync-error.ts';

/** A cell as text; one that is blank is in no row. */
export interface SheetCell {
  readonly text: string;
  readonly isFormula: boolean;
}

/** The cells of a row that hold something, by the place of their column. */
export type SheetCells = ReadonlyMap<number, SheetCell>;

/** The first sheet of a file: its columns, and its rows below them with the numbers that a spreadsheet shows. */
export interface Sheet {
  /** Its name in a workbook. */
  readonly name?: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly position: number; readonly cells: SheetCells }[];
  /** The sign before the decimals. */
  readonly decimalSign: ',' | '.';
}

/** The largest sheet that is read: a larger one would hold up all others who use the mirror. */
export const MAX_BYTES = 128 * 1024 * 1024;
export const MAX_CELLS = 3_000_000;
const MAX_ROWS = 300_000;
const MAX_COLUMNS = 1_000;
const LONGEST_NAME = 255;
const LONGEST_CELL = 32_767; // As in a workbook.

const SAVE_AGAIN = 'Save it as a workbook (.xlsx), or as CSV in UTF-8.';

export const unreadableSheet = (message: string, cause?: unknown, hint = SAVE_AGAIN): UsageError =>
  new UsageError(message, { code: 'usage.sheet', hint, cause });

export const sheetTooLarge = (what: string): UsageError =>
  new UsageError(`The sheet has more than ${what}.`, {
    code: 'usage.sheet',
    hint: 'Keep only the rows and the columns that you have edited, with id and _version.',
  });

/** A control character, which a workbook cannot hold, or half a character. */
const UNSTORABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]|\p{Surrogate}/gu;

/** A text without the characters that a workbook cannot hold. */
export const workbookText = (text: string): string => text.replace(UNSTORABLE, '');

export type RowCollector = ReturnType<typeof collectRows>;

/**
 * Collects rows as they are read, the one with the names first. Cells that are blank, or have no named column, are left out.
 *
 * @throws {UsageError} `usage.sheet` where the first row does not name every column once, or the sheet is too large.
 */
export function collectRows() {
  let columns: readonly string[] | null = null;
  let cellCount = 0;
  let characters = 0;
  let cells = new Map<number, SheetCell>();
  const rows: { readonly position: number; readonly cells: SheetCells }[] = [];
  const addCell = (index: number, text: string, isFormula: boolean): void => {
    // The first row keeps one cell too many, to be refused. All cells of a row of five million took 2.3 GB.
    if (index > MAX_COLUMNS || (text === '' && !isFormula)) return;
    if (++cellCount > MAX_CELLS) throw sheetTooLarge(`${MAX_CELLS} cells`);
    if (columns !== null && index >= columns.length) return;
    if (text.length > LONGEST_CELL) throw sheetTooLarge(`${LONGEST_CELL} characters in a cell`);
    const storable = workbookText(text);
    if (storable === '' && !isFormula) return;
    characters += storable.length;
    cells.set(index, { text: storable, isFormula });
  };
  const endRow = (position: number): void => {
    const ended = cells;
    cells = new Map();
    if (columns === null) {
      columns = columnsOf(position, ended);
      return;
    }
    if (ended.size > 0) rows.push({ position, cells: ended });
    if (rows.length > MAX_ROWS) throw sheetTooLarge(`${MAX_ROWS} rows`);
    if (rows.length * columns.length > MAX_CELLS) throw sheetTooLarge(`${MAX_CELLS} cells`);
    if (characters > MAX_BYTES) throw sheetTooLarge(`${MAX_BYTES} characters`);
  };
  const toSheet = (decimalSign: Sheet['decimalSign']): Sheet => {
    if (columns === null) throw columnsUnnamed();
    return { columns, rows, decimalSign };
  };
  return { addCell, endRow, toSheet };
}

const NAME_ALL =
  'Name each column once in the first row. The column id stays empty in new rows (--create). For a sheet without ids: --match FIELD';

export const columnsUnnamed = (): UsageError =>
  unreadableSheet('The first row does not name the columns, id among them.', undefined, NAME_ALL);

function columnsOf(position: number, cells: SheetCells): readonly string[] {
  const names = new Map([...cells].map(([index, { text }]) => [index, text.trim()]));
  let count = 0;
  for (const [index, name] of names) if (name !== '') count = Math.max(count, index + 1);
  if (count > MAX_COLUMNS) throw sheetTooLarge(`${MAX_COLUMNS} columns`);
  const columns = Array.from({ length: count }, (_, index) => names.get(index) ?? '');
  if (columns.some((name) => name.length > LONGEST_NAME))
    throw sheetTooLarge(`${LONGEST_NAME} letters in a name`);
  const [twice] = findRepeated(columns);
  if (twice !== undefined) throw unreadableSheet(`Two columns are named ${twice}.`, undefined, NAME_ALL);
  if (position !== 1 || count === 0) throw columnsUnnamed();
  return columns;
}

/** The texts that stand in more than one row; rows without one are not compared. */
export function findRepeated(texts: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(texts.filter((text) => text !== '' && (seen.has(text) || !seen.add(text))));
}
