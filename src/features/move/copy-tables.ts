import { sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Kind } from '../../catalog/kind.ts';
import { readNumber } from '../../db/rows/rows.ts';
import type { Row, Session, SqlValue, Transaction } from '../../db/session/session.ts';
import { identifier, literal } from '../../db/session/sql-text.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { writeNestedRows } from '../../store/records/nested-rows.ts';
import type { Issue } from '../../store/records/issue-store.ts';
import { decodeStored } from '../../store/schema/redecode.ts';
import { OWN_COLUMNS, writtenColumns } from '../../store/tables/kind-table.ts';
import { readTargetMark } from '../../store/kinds/target-mark.ts';

/** The engine tables whose rows move. The facts of `mirror_meta` move last; the dictionary is written with the views. */
export const movedTables = (all: readonly SQLiteTable[]) =>
  all
    .map((table) => getTableConfig(table))
    .filter(({ name }) => !['mirror_meta', 'dictionary', 'relations'].includes(name))
    .map(({ name, columns }) => ({ name, columns: columns.filter((column) => !column.generated) }));

/** A move under way. */
export interface Move {
  readonly source: Session;
  readonly target: Session;
  readonly tables: ReturnType<typeof movedTables>;
  /** The process in the mark of the target. */
  readonly run: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly onRows: (table: string, rows: number) => void;
}

export const ROWS_AT_ONCE = 500;

/**
 * Copies the rows of an engine table, in order of their insertion, a batch per transaction.
 * @returns How many.
 * @throws The reason of the signal once it fires.
 */
export async function copyTable(move: Move, table: Move['tables'][number]): Promise<number> {
  const names = table.columns.map((column) => column.name);
  return copyBatches(move, table.name, names, async (tx, rows) => {
    const values = rows.map((row) => names.map((column) => row[column] ?? null));
    await tx.insertRows({ table: table.name, columns: names, rows: values });
  });
}

/** Copies the rows of a kind: its columns and the rows of its nested arrays are decoded again from `_raw`. */
export async function copyKind(move: Move, declared: Kind): Promise<number> {
  const kind = await readMirroredKind(move.target, declared);
  return copyBatches(move, kind.name, ['id', ...OWN_COLUMNS], async (tx, rows) => {
    const found: Issue[] = []; // The table of issues has them already.
    const decoded = decodeStored(kind, 'postgres', rows, found);
    const records = decoded.map((record) => ({ ...record, change: { is: 'created' } as const }));
    const columns = writtenColumns(kind, 'postgres');
    await tx.insertRows({ table: kind.name, columns, rows: records.map((record) => record.row) });
    await writeNestedRows(tx, { kind, records, found, now: move.now });
  });
}

async function copyBatches(
  move: Move,
  table: string,
  columns: readonly string[],
  insert: (tx: Transaction, rows: readonly Row[]) => Promise<void>,
): Promise<number> {
  let copied = 0;
  for await (const rows of readBatches(move, table, columns)) {
    await move.target.atomically(async (tx) => {
      await requireOwnMove(tx, move.run);
      await insert(tx, rows);
    });
    copied += rows.length;
    move.onRows(table, copied);
  }
  return copied;
}

/** Reads a table of the file in order of insertion. @throws The reason of the signal once it fires. */
export async function* readBatches(move: Move, table: string, columns: readonly string[]) {
  const names = sql.raw(columns.map(identifier).join(', '));
  for (let after: SqlValue = Number.MIN_SAFE_INTEGER; ;) {
    move.signal.throwIfAborted();
    const rows = await move.source.query(sql`
      select _rowid_ as _place, ${names} from ${sql.identifier(table)} where _rowid_ > ${after} order by _rowid_ limit ${ROWS_AT_ONCE}`);
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)?.['_place'] ?? after;
  }
}

/** @throws {SyncError} `move.taken_over` if another process has begun the move again. */
export async function requireOwnMove(tx: Transaction, run: string): Promise<void> {
  const mark = await readTargetMark(tx);
  if (mark?.run !== run || mark.state !== 'filling') throw takenOver();
}

export const takenOver = (): SyncError =>
  new SyncError('This move was given up, or another process has taken it over.', {
    code: 'move.taken_over',
    hint: 'bms-sync doctor shows where the mirror is.',
  });

/**
 * Makes numbers continue from the file's own counters. Where retention has removed the latest rows, these stand beyond the highest
 * number, and no number may be used twice: a cursor would pass over the new event.
 */
export async function continueNumbers(move: Move, tx: Transaction): Promise<void> {
  for (const { name, columns } of move.tables)
    for (const column of columns.filter((column) => column.primary && column.dataType === 'number')) {
      const last = await readNumber(move.source, sql`select seq from sqlite_sequence where name = ${name}`);
      if (last === null || last === 0) continue;
      const sequence = sql.raw(`pg_get_serial_sequence(${literal(name)}, ${literal(column.name)})`);
      await tx.query(sql`select setval(${sequence}, ${last})`);
    }
}
