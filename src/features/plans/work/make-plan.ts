import { sql } from 'drizzle-orm';
import type { Kind } from '../../../catalog/kind.ts';
import { isRecordId } from '../../../diff/compare-page.ts';
import { naturalKeyOf } from '../../../diff/match.ts';
import { compactJson, parseObject } from '../../../lib/json/json.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import type { Queryable, Row, Session } from '../../../db/session/session.ts';
import { inChunks } from '../../../db/session/sql-text.ts';
import { sqlList } from '../../../db/session/sql-list.ts';
import { readTexts } from '../../../db/rows/rows.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import { insertPlan, type NewPlanRow } from '../store.ts';
import { VERSION_COLUMN, versionOf } from '../../../store/records/record-version.ts';
import { namesOfHeadings, readDictionary } from '../../../views/column-headings.ts';
import { readDeclaredColumns } from '../../../views/views.ts';
import { findRecordsWithKey } from '../../../outbound/intake/duplicate-check.ts';
import { valueForMessage as beginningOf } from '../../../outbound/intake/write-value.ts';
import {
  parseCells,
  toEntryData,
  editedTable,
  findEdits,
  findReorderedColumn,
  readCellText,
  type CellMove,
  type EditedTable,
  type PlannedCell,
  type SeenRecord,
} from './judge-row.ts';
import { judgeThenStore, ROWS_A_SLICE } from './judge-then-store.ts';
import { matchedFields, matchRows } from './match-rows.ts';
import { kindOfSheet } from '../sheet/sheet-kind.ts';
import { columnsUnnamed, findRepeated, type Sheet, type SheetCells } from '../sheet/sheet-table.ts';

export interface Spreadsheet {
  readonly kinds: readonly Kind[];
  readonly sheet: Sheet;
  /** The kind, where the columns do not show it. */
  readonly kind?: string | undefined;
  /** The name of the file. */
  readonly origin: string;
  readonly createdBy: string;
  readonly now: Date;
  /** Creates records of rows without an id, or without a match; else they are refused, as a row of totals is. */
  readonly create?: boolean | undefined;
  /** The fields of the natural key, with commas, by which a sheet without ids finds its records. */
  readonly match?: string | undefined;
  /** Accepts a column whose values only changed places as edited. */
  readonly allowReordered?: boolean | undefined;
  /** Refuses the plan in the transaction that stores it. */
  readonly check?: (tx: Queryable) => Promise<void>;
}

/**
 * Compares an edited export with the mirror, and stores what it would change as a plan: cell by cell, and each row that is refused
 * with the reason. Nothing is sent. Returns the number of the plan, null where it would have no row.
 *
 * @throws {UsageError} `usage.sheet` where the columns fit no kind, or a column was probably sorted without the others.
 */
export async function makePlan(session: Session, spreadsheet: Spreadsheet): Promise<number | null> {
  const { match, create = false, allowReordered = false } = spreadsheet;
  const { kind, viewColumns, sheet } = await findKind(session, spreadsheet);
  const fields = match === undefined ? [] : matchedFields(kind, viewColumns, sheet, match);
  const table = editedTable(await readMirroredKind(session, kind), viewColumns, sheet, fields);
  return judgeThenStore(
    session,
    { kind, now: spreadsheet.now },
    async () => {
      const { rows, moves } = await judgeRows(session, table, create);
      const reordered = allowReordered ? undefined : findReorderedColumn(moves);
      if (reordered !== undefined) throw sortedAloneError(reordered);
      return rows.length === 0 ? null : refuseDuplicateRows(table.kind, rows);
    },
    async (tx, rows, createdAt) => {
      await spreadsheet.check?.(tx);
      return insertPlan(tx, { ...spreadsheet, kind: kind.name, createdAt }, rows);
    },
  );
}

async function judgeRows(db: Queryable, table: EditedTable, create: boolean) {
  const { sheet } = table;
  const targets = table.match.length > 0 ? await matchRows(db, table, create) : rowsById(sheet);
  const targeted = sheet.rows.map((row, index) => ({ id: '', ...row, ...targets[index] }));
  const rows: NewPlanRow[] = [];
  const moves: CellMove[] = [];
  for (const slice of inChunks(targeted, ROWS_A_SLICE)) {
    const records = await readLiveRows(db, table.kind, slice.map((row) => row.id).filter(isRecordId));
    for (const { position, cells, id, refusal } of slice) {
      const judged =
        refusal === undefined
          ? await judgeRow(db, { ...table, cells, id, record: records.get(id) }, create)
          : refuseRow([refusal]);
      moves.push(...(judged.moves ?? []));
      if (judged.cells.length === 0 && judged.refusal === null) continue;
      rows.push({
        position,
        operation: id === '' && refusal === undefined ? 'create' : 'update',
        recordId: id.slice(0, LONGEST_ID) || null,
        refusal: judged.refusal,
        cells: compactJson(judged.cells),
      });
    }
  }
  return { rows, moves };
}

function rowsById(sheet: Sheet) {
  const ids = sheet.rows.map((row) => readCellText(sheet, row.cells, 'id'));
  const repeated = findRepeated(ids);
  return ids.map((id) => (repeated.has(id) ? { id, refusal: `id ${id} is in the sheet twice` } : { id }));
}

const LONGEST_ID = 60;

const sortedAloneError = (column: string): UsageError =>
  new UsageError(
    `The new values of ${column} are its old ones in another order: it was probably sorted alone.`,
    {
      code: 'usage.sheet',
      hint: 'Export again, and sort whole rows. If each value is meant as it stands: --allow-reordered.',
    },
  );

type CandidateKind = Pick<EditedTable, 'kind' | 'viewColumns' | 'sheet'>;

/** The kind that is chosen or named; else the only one that has the most of these columns, or no others. */
async function findKind(db: Session, spreadsheet: Spreadsheet): Promise<CandidateKind> {
  const { kinds, kind: chosen, sheet, origin: file, match } = spreadsheet;
  const names = kinds.map((kind) => kind.name);
  const named = kindOfSheet(names, chosen, sheet.name, file);
  const writable = kinds.filter((kind) => kind.create !== null || kind.update !== null);
  const candidates: CandidateKind[] = [];
  for (const kind of kinds.filter((kind) => named === undefined || named === kind.name)) {
    const view = `bi_${kind.name}`;
    const viewColumns = new Set((await readDeclaredColumns(db, view)).map((column) => column.name));
    const columns = namesOfHeadings(sheet.columns, await readDictionary(db, view));
    candidates.push({ kind, viewColumns, sheet: { ...sheet, columns } });
  }
  const sharedBy = ({ viewColumns, sheet: { columns } }: CandidateKind): number =>
    columns.filter((name) => viewColumns.has(name)).length;
  const most = Math.max(...candidates.map(sharedBy));
  const nearest = candidates.filter((candidate) => sharedBy(candidate) === most);
  const closest = nearest.filter((candidate) => writable.includes(candidate.kind));
  const hasIds = (each: CandidateKind): boolean => match !== undefined || each.sheet.columns.includes('id');
  if (closest.length > 0 && !closest.some(hasIds)) throw columnsUnnamed();
  const complete = closest.filter((candidate) => candidate.viewColumns.size === most);
  const [best, ...others] = closest.length > 1 ? complete : closest;
  if (best !== undefined && findRepeated(best.sheet.columns).size > 0) throw columnsUnnamed();
  if (best !== undefined && others.length === 0) return best;
  const [message, kindsLeft] =
    closest.length > 0
      ? ['The columns fit more than one record kind.', closest.map(({ kind }) => kind)]
      : [`There is no record kind "${named ?? nearest[0]?.kind.name}" that can be written.`, writable];
  throw new UsageError(message, {
    code: 'usage.sheet',
    hint: `Choose one of them (--kind): ${kindsLeft.map((kind) => kind.name).join(', ')}.`,
  });
}

type LiveRow = SeenRecord & { readonly text: string; readonly shown: Row };

/** Reads records with what their view shows, both of one instant. */
async function readLiveRows(
  db: Queryable,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LiveRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query(sql`
    select v.*, m._raw as _raw from ${sql.identifier(`bi_${kind.name}`)} v
    join ${sql.identifier(kind.name)} m on m.id = v.id where m.id in (${sqlList(ids)})`);
  return new Map(
    rows.map((shown) => {
      const text = String(shown['_raw']);
      return [String(shown['id']), { raw: parseObject(text), text, shown }];
    }),
  );
}

interface JudgedRow {
  readonly cells: readonly PlannedCell[];
  readonly refusal: string | null;
  readonly moves?: readonly CellMove[];
}

const MAX_FAULTS = 10;

function refuseRow(faults: readonly string[], moves: readonly CellMove[] = []): JudgedRow {
  const more = faults.length > MAX_FAULTS ? [`${faults.length - MAX_FAULTS} more`] : [];
  return { cells: [], refusal: [...faults.slice(0, MAX_FAULTS), ...more].join('; '), moves };
}

interface SheetRow extends EditedTable {
  readonly cells: SheetCells;
  readonly id: string;
  readonly record: LiveRow | undefined;
}

async function judgeRow(db: Queryable, row: SheetRow, create: boolean): Promise<JudgedRow> {
  if (row.id !== '') return judgeUpdate(db, row);
  if (create) return judgeCreate(db, { ...row, match: [] });
  return refuseRow([
    'it has no id (a row of totals has none either); to create a record from it, add --create',
  ]);
}

async function judgeUpdate(db: Queryable, row: SheetRow): Promise<JudgedRow> {
  const { kind, id, record } = row;
  if (!isRecordId(id)) return refuseRow([`${beginningOf(id)} is not the id of a record`]);
  if (record === undefined) return refuseRow([`${kind.name} has no record ${id}`]);
  const { cells, faults, moves } = findEdits(row, row.cells, record);
  if (cells.length === 0 && faults.length === 0) return { cells, refusal: null };
  const version = row.viewColumns.has(VERSION_COLUMN)
    ? ''
    : readCellText(row.sheet, row.cells, VERSION_COLUMN);
  const isExport = row.match.length === 0; // Another sheet shows no state: what is in the mirror now counts.
  if (isExport && version === '')
    return refuseRow(
      [
        `${VERSION_COLUMN} is missing, which shows whether the record has changed: edit an exported file, and keep that column`,
        ...faults,
      ],
      moves,
    );
  if (isExport && version !== versionOf(record.text)) return judgeChangedRow(db, row, version);
  if (kind.update === null) faults.push(`records of ${kind.name} cannot be updated`);
  return faults.length > 0 ? refuseRow(faults, moves) : { cells, refusal: null, moves };
}

/** A row whose record has changed since the export: it is refused if it was edited, too. */
async function judgeChangedRow(db: Queryable, row: SheetRow, version: string): Promise<JudgedRow> {
  const { kind, id } = row;
  const states = await readTexts(
    db,
    sql`select before from changes where kind = ${kind.name} and record_id = ${id}
      union all select after from changes where kind = ${kind.name} and record_id = ${id}`,
  );
  const exported = states.find((state) => versionOf(state) === version);
  const edits = exported === undefined ? null : findEdits(row, row.cells, { raw: parseObject(exported) });
  return edits?.cells.length === 0 && edits.faults.length === 0
    ? { cells: [], refusal: null }
    : refuseRow([`record ${id} has changed since the export`]);
}

/** A row without an id: a record to be made, unless something has its natural key. */
async function judgeCreate(db: Queryable, row: SheetRow): Promise<JudgedRow> {
  const { kind } = row;
  const { cells, faults } = findEdits(row, row.cells, { raw: {} });
  if (faults.length > 0) return refuseRow(faults);
  if (cells.length === 0) return refuseRow(['it has neither an id nor a field that can be written']);
  if (kind.create === null) return refuseRow([`records of ${kind.name} cannot be created`]);
  if (kind.repeats === true) return { cells, refusal: null };
  const [duplicate] = await findRecordsWithKey(db, kind, compactJson(toEntryData(kind, cells)));
  return duplicate === undefined
    ? { cells, refusal: null }
    : refuseRow([`record ${duplicate.id} has the same natural key`]);
}

/** Of two rows that would make the same record, the second is refused. */
function refuseDuplicateRows(kind: Kind, rows: readonly NewPlanRow[]): readonly NewPlanRow[] {
  const first = new Map<string, number>();
  return rows.map((row) => {
    if (row.operation !== 'create' || row.refusal !== null || kind.repeats === true) return row;
    const key = naturalKeyOf(kind, toEntryData(kind, parseCells(row.cells)));
    const firstPosition = first.get(key);
    if (firstPosition !== undefined)
      return { ...row, cells: '[]', refusal: `row ${firstPosition} has the same natural key` };
    first.set(key, row.position);
    return row;
  });
}
