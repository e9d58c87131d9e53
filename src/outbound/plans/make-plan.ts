import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { isRecordId } from '../../diff/judge-page.ts';
import { naturalKeyOf } from '../../diff/match.ts';
import { compactJson, parseObject } from '../../lib/json/json.ts';
import { UsageError } from '../../lib/sync-error.ts';
import type { Row, Session, Transaction } from '../../db/session/session.ts';
import { inChunks, sqlList } from '../../db/session/sql-text.ts';
import { readNumber } from '../../db/rows/rows.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { insertPlan } from '../../mirror/outbox/plan-store.ts';
import type { NewPlanRow } from '../../mirror/outbox/plan-store.ts';
import { rowsAsOf } from '../../mirror/records/as-of.ts';
import { readDeclaredColumns } from '../../mirror/views/views.ts';
import { recordsWithKey } from '../intake/gate.ts';
import { cellsOf, dataOf, editsOf, textIn } from './judge-row.ts';
import type { EditedTable, PlannedCell, SeenRecord } from './judge-row.ts';
import type { Sheet, SheetCells } from './sheet-table.ts';

interface Spreadsheet {
  readonly kinds: readonly Kind[];
  readonly sheet: Sheet;
  /** The kind, where the columns do not tell it. */
  readonly kind?: string | undefined;
  /** The name of the file. */
  readonly origin: string;
  readonly createdBy: string;
  readonly now: Date;
}

/**
 * Compares an edited export with the mirror, and stores what it would change as a plan: cell by cell, and each row that is refused
 * with the reason. Nothing is sent. Returns the number of the plan, null where it would have no row.
 *
 * @throws {UsageError} `usage.sheet` where the columns tell no kind.
 */
export async function makePlan(session: Session, asked: Spreadsheet): Promise<number | null> {
  const { sheet } = asked;
  return session.atomically(async (tx) => {
    const { kind, known } = await kindOf(tx, asked);
    const table = { kind: await asMirrored(tx, kind), known, sheet };
    const ids = sheet.rows.map(({ cells }) => textIn(sheet, cells, 'id'));
    const seen = await readSeen(tx, kind, ids.filter(isRecordId));
    const twice = repeated(ids);
    const rows: NewPlanRow[] = [];
    for (const [index, { position, cells }] of sheet.rows.entries()) {
      const id = ids[index] ?? '';
      const edited = { ...table, cells, id, record: seen.get(id) };
      const judge = id === '' ? createOf : updateOf;
      const row = twice.has(id) ? refused([`id ${id} is in the sheet twice`]) : await judge(tx, edited);
      const { cells: changed, refusal } = row;
      if (changed.length === 0 && refusal === null) continue;
      const operation = id === '' ? 'create' : 'update';
      rows.push({ position, operation, recordId: id || null, refusal, cells: compactJson(changed) });
    }
    if (rows.length === 0) return null;
    return insertPlan(tx, { ...asked, kind: kind.name }, withoutTwins(table.kind, rows));
  });
}

/** The ids that stand in more than one row. */
function repeated(ids: readonly string[]): ReadonlySet<string> {
  const places = Map.groupBy(ids, (id) => id);
  return new Set([...places].filter(([id, rows]) => id !== '' && rows.length > 1).map(([id]) => id));
}

/** The kind that is named; else the only one that has the most of these columns, or no others. */
async function kindOf(tx: Transaction, { kinds, kind: named, sheet }: Spreadsheet) {
  const writable = kinds.filter(({ create, update }) => create !== null || update !== null);
  const found: { readonly kind: Kind; readonly known: ReadonlySet<string>; readonly shared: number }[] = [];
  for (const kind of writable.filter(({ name }) => named === undefined || named === name)) {
    const known = new Set((await readDeclaredColumns(tx, `bi_${kind.name}`)).map(({ name }) => name));
    found.push({ kind, known, shared: sheet.columns.filter((name) => known.has(name)).length });
  }
  const most = Math.max(...found.map(({ shared }) => shared));
  const near = found.filter(({ shared }) => shared === most);
  const whole = near.filter(({ known }) => known.size === most);
  const [best, ...others] = near.length > 1 ? whole : near;
  if (best !== undefined && others.length === 0) return best;
  const message =
    named === undefined
      ? 'The columns fit more than one record kind.'
      : `There is no record kind "${named}" that can be written.`;
  throw new UsageError(message, {
    code: 'usage.sheet',
    hint: `Add --kind with one of ${writable.map(({ name }) => name).join(', ')}.`,
  });
}

type LiveRow = SeenRecord & { readonly shown: Row };

async function readSeen(
  tx: Transaction,
  { name }: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LiveRow>> {
  const seen = new Map<string, LiveRow>();
  for (const some of inChunks([...new Set(ids)])) {
    const raws = await tx.rowsById(name, ['_raw'], some);
    const rows = await tx.query(
      sql`select * from ${sql.identifier(`bi_${name}`)} where id in (${sqlList(some)})`,
    );
    for (const shown of rows) {
      const id = String(shown['id']);
      seen.set(id, { raw: parseObject(String(raws.get(id)?.[0] ?? '{}')), shown });
    }
  }
  return seen;
}

interface JudgedRow {
  readonly cells: readonly PlannedCell[];
  readonly refusal: string | null;
}

const refused = (faults: readonly string[]): JudgedRow => ({ cells: [], refusal: faults.join('; ') });

interface GivenRow extends EditedTable {
  readonly cells: SheetCells;
  readonly id: string;
  readonly record: LiveRow | undefined;
}

async function updateOf(tx: Transaction, row: GivenRow): Promise<JudgedRow> {
  const { kind, id, record, sheet } = row;
  if (!isRecordId(id)) return refused([`"${id}" is no id of a record`]);
  if (record === undefined) return refused([`${kind.name} has no record ${id} any more`]);
  const exportedAt = textIn(sheet, row.cells, '_changed_at').replace(/^.{10}$/, '$& 00:00'); // A workbook has no midnight.
  if (!INSTANT.test(exportedAt))
    return refused([`"${exportedAt}" in _changed_at is no instant of an export`]);
  const isMoved = !String(record.shown['_changed_at']).startsWith(exportedAt);
  const { cells, faults } = editsOf(row, row.cells, isMoved ? await recordAt(tx, row, exportedAt) : record);
  if (cells.length === 0 && faults.length === 0) return { cells, refusal: null };
  if (isMoved) return refused([`record ${id} has changed since the export`]);
  if (kind.update === null) faults.push(`records of ${kind.name} cannot be updated`);
  if (exportedAt === '')
    faults.push('_changed_at is blank: nobody can tell whether the record has changed since');
  else if (!(await isOneState(tx, row, record.shown, exportedAt))) faults.push(severalStates(id, exportedAt));
  return faults.length > 0 ? refused(faults) : { cells, refusal: null };
}

/** A spreadsheet may keep neither seconds nor their fraction. */
const INSTANT = /^(?:\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d{3})?)?)?$/;

const severalStates = (id: string, at: string): string =>
  `record ${id} has changed more than once at ${at} UTC, and the sheet does not tell which of these states it shows`;

const SPAN = { from: '0000-00-00 00:00:00.000', to: '0000-00-00 00:00:59.999' };

/** The record as it was at the end of the second, or minute, that an export tells; blank where that is not known. */
async function recordAt(tx: Transaction, { kind, id }: GivenRow, exportedAt: string): Promise<SeenRecord> {
  const instant = exportedAt + SPAN.to.slice(exportedAt.length);
  for await (const [row] of rowsAsOf(tx, { kind, nested: null, instant, ids: [id] }))
    if (row !== undefined) return { raw: parseObject(String(row['_raw'])) };
  return { raw: {} };
}

/** Whether the record had only one state in the second, or minute, that an export tells. */
async function isOneState(
  tx: Transaction,
  { kind: { name }, id }: GivenRow,
  shown: Row,
  exportedAt: string,
): Promise<boolean> {
  const from = exportedAt + SPAN.from.slice(exportedAt.length);
  const to = exportedAt + SPAN.to.slice(exportedAt.length);
  const events = sql`select count(*) from changes where kind = ${name} and record_id = ${id}`;
  const changes = (await readNumber(tx, sql`${events} and observed_at between ${from} and ${to}`)) ?? 0;
  const isToldCreate = ((await readNumber(tx, sql`${events} and change = 'created'`)) ?? 0) > 0;
  const isFirst = String(shown['_first_seen_at']).startsWith(exportedAt) && !isToldCreate; // Records of the first read.
  return changes + (isFirst ? 1 : 0) <= 1;
}

/** A row without an id: a record to be made, unless something has its natural key. */
async function createOf(tx: Transaction, row: GivenRow): Promise<JudgedRow> {
  const { kind } = row;
  const { cells, faults } = editsOf(row, row.cells, { raw: {} });
  if (faults.length > 0) return refused(faults);
  if (cells.length === 0) return refused(['it has neither an id nor a field that can be written']);
  if (kind.create === null) return refused([`records of ${kind.name} cannot be created`]);
  if (kind.repeats === true) return { cells, refusal: null };
  const [double] = await recordsWithKey(tx, kind, compactJson(dataOf(kind, cells)));
  return double === undefined
    ? { cells, refusal: null }
    : refused([`record ${double.id} has the same natural key`]);
}

/** Of two rows that would make the same record, the second is refused. */
function withoutTwins(kind: Kind, rows: readonly NewPlanRow[]): readonly NewPlanRow[] {
  const first = new Map<string, number>();
  return rows.map((row) => {
    if (row.operation !== 'create' || row.refusal !== null || kind.repeats === true) return row;
    const key = naturalKeyOf(kind, dataOf(kind, cellsOf(row.cells)));
    const twin = first.get(key);
    if (twin !== undefined) return { ...row, cells: '[]', refusal: `row ${twin} has the same natural key` };
    first.set(key, row.position);
    return row;
  });
}
