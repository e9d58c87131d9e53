import { isExcludedName } from '../../../catalog/exclude.ts';
import type { Kind } from '../../../catalog/kind.ts';
import { shownValue, writableField, writeNameOf } from '../../../diff/shown-value.ts';
import { parseJson, type Json, type JsonObject } from '../../../lib/json/json.ts';
import { didYouMean } from '../../../lib/text/nearest-name.ts';
import type { Row } from '../../../db/session/session.ts';
import { VERSION_COLUMN } from '../../../store/records/record-version.ts';
import { plainText, readCell, spellAlike } from '../sheet/read-cell.ts';
import { workbookText, type Sheet, type SheetCell, type SheetCells } from '../sheet/sheet-table.ts';
import { compareSpellings, detectDayFirst, parseNumber, type Spelling } from '../sheet/spellings.ts';

/** A field that a row changes; by its name of a read. */
export type PlannedCell = Readonly<Record<'old' | 'new', Json>> & { readonly field: string };

export interface EditedTable {
  /** As mirrored. */
  readonly kind: Kind;
  /** The columns of the kind's view. */
  readonly viewColumns: ReadonlySet<string>;
  readonly sheet: Sheet;
  readonly spelling: Spelling;
  /** The fields by which rows find their records, which they do not change; none: by ids. */
  readonly match: readonly string[];
  /** Why a column cannot be written, by its place. Computed once, because looking for a similar name takes time. */
  readonly unwritable: readonly string[];
}

export function editedTable(
  kind: Kind,
  viewColumns: ReadonlySet<string>,
  sheet: Sheet,
  match: readonly string[],
): EditedTable {
  const datePlaces = sheet.columns.flatMap((column, place) => {
    const type = kind.fields.find((field) => field.name === column)?.type;
    return type === 'date' || type === 'timestamp' ? [place] : [];
  });
  const texts = sheet.rows.flatMap((row) => datePlaces.map((place) => row.cells.get(place)?.text ?? ''));
  const unwritable = sheet.columns.map((column) => unwritableReason(column, viewColumns, kind));
  return {
    kind,
    viewColumns,
    sheet,
    match,
    spelling: { decimalSign: sheet.decimalSign, dayFirst: detectDayFirst(texts) },
    unwritable,
  };
}

/** A live record: as it was sent, and what an export shows of it now. */
export interface SeenRecord {
  readonly raw: JsonObject;
  /** Left out, columns that cannot be written are not compared. */
  readonly shown?: Row;
}

/** The text that a cell has shown, and the different text that it shows now. */
export type CellMove = Readonly<Record<'column' | 'from' | 'to', string>>;

/** Finds the cells of a row that differ from a record, and the faults of other cells. */
export function findEdits(table: EditedTable, cells: SheetCells, seen: SeenRecord) {
  const { kind, sheet, spelling } = table;
  const edits: PlannedCell[] = [];
  const faults: string[] = [];
  const moves: CellMove[] = [];
  for (const [index, column] of sheet.columns.entries()) {
    if (table.match.includes(column)) continue;
    const cell = cells.get(index) ?? BLANK;
    const field = writableField(kind, column);
    if (field === undefined) {
      if (!KNOWN_BY_ROW.includes(column) && isEdited(table, column, cell, seen.shown))
        faults.push(table.unwritable[index] ?? column);
      continue;
    }
    const old = shownValue(kind, seen.raw, column) ?? null;
    const read = readCell(field, cell, old, spelling);
    if (read.is === 'same') continue;
    moves.push({ column, ...spellAlike(field, cell, old, spelling) });
    if (read.is === 'refused') faults.push(`${column}: ${read.why}`);
    else edits.push({ field: column, old, new: read.value });
  }
  return { cells: edits, faults, moves };
}

const FEWEST_MOVED = 2;
const MOVED_PART = 0.8;

/** A column whose new values are its old ones in another order, all or nearly all: it was probably sorted without the others. */
export function findReorderedColumn(moves: readonly CellMove[]): string | undefined {
  return [...Map.groupBy(moves, (move) => move.column)].find(([, cells]) => {
    const oldValues = new Map<string, number>();
    for (const { from } of cells) oldValues.set(from, (oldValues.get(from) ?? 0) + 1);
    const reused = cells.filter((cell) => {
      const count = oldValues.get(cell.to) ?? 0;
      oldValues.set(cell.to, count - 1);
      return count > 0;
    });
    return cells.length >= FEWEST_MOVED && reused.length >= cells.length * MOVED_PART;
  })?.[0];
}

const BLANK: SheetCell = { text: '', isFormula: false };
const KNOWN_BY_ROW = ['id', VERSION_COLUMN, '_changed_at', '_first_seen_at'];

/** Whether a cell of a column that cannot be written shows something else than an export. */
function isEdited(table: EditedTable, column: string, cell: SheetCell, row: Row | undefined): boolean {
  const { viewColumns, spelling } = table;
  if (cell.isFormula || !viewColumns.has(column)) return cell.isFormula || cell.text !== '';
  if (row === undefined) return false;
  const text = plainText(cell.text);
  const shown = workbookText(plainText(String(row[column] ?? '')));
  const isInstant = text.length > 'YYYY-MM-DD'.length && shown.startsWith(text); // Without its fraction.
  const number = parseNumber(text, spelling.decimalSign);
  const isNumber = number !== null && shown !== '' && Number(number) === Number(shown);
  const whole = shown.replace(/(\d\d:\d\d)\.\d{3}$/, '$1');
  return text !== shown && !isInstant && !isNumber && compareSpellings(text, whole, spelling) === 'other';
}

function unwritableReason(column: string, viewColumns: ReadonlySet<string>, kind: Kind): string {
  if (isExcludedName(kind, column)) return `${column} is excluded by privacy.exclude`;
  const name = column === '' ? 'a column without a name' : column;
  if (!viewColumns.has(column))
    return `${name} is not a column of the export${didYouMean(column, [...viewColumns])}`;
  const source = /^(.+)_(?:exact|e4)$/.exec(column)?.[1] ?? '';
  return viewColumns.has(source)
    ? `${column} is computed: change ${source}`
    : `${column} cannot be changed by a spreadsheet`;
}

/** A column of a row, without the signs of an export. */
export function readCellText(sheet: Sheet, cells: SheetCells, column: string): string {
  return plainText(cells.get(sheet.columns.indexOf(column))?.text ?? '').trim();
}

/** Cells as they are stored. */
export const parseCells = (text: string): readonly PlannedCell[] =>
  parseJson(text) as unknown as readonly PlannedCell[];

/** The fields of a row as an entry of the outbox takes them: by the names of a write. */
export const toEntryData = (kind: Kind, cells: readonly PlannedCell[]): JsonObject =>
  Object.fromEntries(
    cells.map((cell) => {
      const field = kind.fields.find((each) => each.name === cell.field);
      return [field === undefined ? cell.field : writeNameOf(field), cell.new];
    }),
  );
