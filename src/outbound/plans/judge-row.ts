import { isExcludedName } from '../../catalog/exclude.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { shownValue, writeNameOf } from '../../diff/written.ts';
import { parseJson } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Row } from '../../db/session/session.ts';
import { numberIn, plainText, readCell } from './read-cell.ts';
import type { Sheet, SheetCell, SheetCells } from './sheet-table.ts';

/** A field that a row changes; by its name of a read. */
export type PlannedCell = Readonly<Record<'old' | 'new', Json>> & { readonly field: string };

/** An edited export. */
export interface EditedTable {
  /** As mirrored. */
  readonly kind: Kind;
  /** The columns of the kind's view. */
  readonly known: ReadonlySet<string>;
  readonly sheet: Sheet;
}

/** A live record: as it was sent, and what an export shows of it now. */
export interface SeenRecord {
  readonly raw: JsonObject;
  /** Left out, columns that cannot be written are not compared. */
  readonly shown?: Row;
}

/** The cells of a row that differ from a record, and what is wrong with others. */
export function editsOf({ kind, known, sheet }: EditedTable, cells: SheetCells, seen: SeenRecord) {
  const edits: PlannedCell[] = [];
  const faults: string[] = [];
  for (const [index, column] of sheet.columns.entries()) {
    const cell = cells.get(index) ?? BLANK;
    const field = writableField(kind, column);
    if (field === undefined) {
      if (!TOLD_ELSEWHERE.includes(column) && isEdited(known, column, cell, { ...sheet, ...seen }))
        faults.push(whyUnwritable(column, known));
      continue;
    }
    const old = shownValue(kind, seen.raw, column) ?? null;
    const read = readCell(field, cell, old, sheet.mark);
    if (read.is === 'refused') faults.push(`${column}: ${read.why}`);
    if (read.is === 'new') edits.push({ field: column, old, new: read.value });
  }
  return { cells: edits, faults };
}

const BLANK: SheetCell = { text: '', isFormula: false };
const TOLD_ELSEWHERE = ['id', '_changed_at', '_first_seen_at'];

/** Lists of entries have tables of their own; other columns are computed. */
function writableField(kind: Kind, column: string): Field | undefined {
  const field = kind.fields.find(({ name, textOf }) => name === column && textOf === undefined);
  const isWritten = column !== 'id' && field?.type !== 'json' && !isExcludedName(kind, column);
  return isWritten ? field : undefined;
}

/** Whether a cell of a column that cannot be written shows something else than an export. */
function isEdited(
  known: ReadonlySet<string>,
  column: string,
  { text: given, isFormula }: SheetCell,
  { mark, shown: row }: Pick<Sheet, 'mark'> & SeenRecord,
): boolean {
  if (isFormula || !known.has(column)) return isFormula || given !== '';
  if (row === undefined) return false;
  const text = plainText(given);
  const shown = plainText(String(row[column] ?? ''));
  const isInstant = text.length > 'YYYY-MM-DD'.length && shown.startsWith(text); // Without its fraction.
  const number = numberIn(text, mark);
  return (
    text !== shown && !isInstant && (number === null || shown === '' || Number(number) !== Number(shown))
  );
}

function whyUnwritable(column: string, known: ReadonlySet<string>): string {
  const name = column === '' ? 'a column without a name' : column;
  if (!known.has(column)) return `${name} is no column of the export${didYouMean(column, [...known])}`;
  const source = /^(.+)_(?:exact|e4)$/.exec(column)?.[1] ?? '';
  return known.has(source)
    ? `${column} is computed: change ${source}`
    : `${column} cannot be changed by a spreadsheet`;
}

/** A column of a row, without the signs of an export. */
export function textIn({ columns }: Sheet, cells: SheetCells, column: string): string {
  return plainText(cells.get(columns.indexOf(column))?.text ?? '').trim();
}

/** Cells as they are stored. */
export const cellsOf = (text: string): readonly PlannedCell[] =>
  parseJson(text) as unknown as readonly PlannedCell[];

/** The fields of a row as an entry of the outbox takes them: by the names of a write. */
export const dataOf = ({ fields }: Kind, cells: readonly PlannedCell[]): JsonObject =>
  Object.fromEntries(
    cells.map(({ field, new: value }) => {
      const known = fields.find(({ name }) => name === field);
      return [known === undefined ? field : writeNameOf(known), value];
    }),
  );
