import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Queryable, Row, SqlValue, TableRows, Transaction } from '../session/session.ts';
import { identifier, inChunks, joinWithCommas, sqlList } from '../session/sql-text.ts';
import type { EngineColumn } from './engine-column.ts';

/** Some or all columns of a table. */
export interface Columns<Column extends EngineColumn> {
  readonly name: string;
  readonly columns: readonly Column[];
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type Decoded<Column extends EngineColumn> = {
  readonly [C in Column as Camel<C['name']>]: Exclude<C['value'], undefined>;
};

/** A row with these columns, under their names in camel case: `record_id text` is `recordId: string`. */
export type RowOf<From extends Columns<EngineColumn> | readonly EngineColumn[]> = Decoded<
  From extends { readonly columns: readonly (infer Column extends EngineColumn)[] }
    ? Column
    : From extends readonly (infer Column extends EngineColumn)[]
      ? Column
      : never
>;

/** The columns without which a row cannot be inserted. */
type Needed<Column extends EngineColumn> = Column extends
  { readonly type: 'serial' } | { readonly defaultValue: string }
  ? never
  : null extends Column['value']
    ? never
    : Column;

type NewRow<Column extends EngineColumn> = Decoded<Needed<Column>> & Partial<Decoded<Column>>;

type NamedColumn<Column extends EngineColumn, Name> = Extract<Column, { readonly name: Name }>;

/** Some columns of a table. */
export function pickColumns<Column extends EngineColumn, Name extends Column['name']>(
  table: Columns<Column>,
  ...names: readonly Name[]
): Columns<NamedColumn<Column, Name>> {
  const isPicked = (column: Column): column is NamedColumn<Column, Name> =>
    names.some((name) => name === column.name);
  return { name: table.name, columns: table.columns.filter(isPicked) };
}

/** All columns of a table but some. */
export function omitColumns<Column extends EngineColumn, Name extends Column['name']>(
  table: Columns<Column>,
  ...names: readonly Name[]
): Columns<Exclude<Column, { readonly name: Name }>> {
  const isRemaining = (column: Column): column is Exclude<Column, { readonly name: Name }> =>
    names.every((name) => name !== column.name);
  return { name: table.name, columns: table.columns.filter(isRemaining) };
}

/** Reads rows of one table. @param rest What follows `select … from …`. */
export async function select<Column extends EngineColumn>(db: Queryable, table: Columns<Column>, rest: SQL) {
  const names = table.columns.map((column) => identifier(column.name)).join(', ');
  const start = sql.raw(`select ${names} from ${identifier(table.name)} `);
  return readRows(db, table.columns, sql`${start}${rest}`);
}

/** Reads the first row; null if there is none. @param rest What follows `select … from …`. */
export async function selectOne<Column extends EngineColumn>(
  db: Queryable,
  table: Columns<Column>,
  rest: SQL,
): Promise<Decoded<Column> | null> {
  return (await select(db, table, rest))[0] ?? null;
}

/** Reads what belongs to many values, some hundreds a statement. @param read Gets them as the list of an `in (…)`. */
export async function readInChunks<Found>(
  values: readonly (string | number)[],
  read: (list: SQL) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const some of inChunks(values)) found.push(...(await read(sqlList(some))));
  return found;
}

/** Runs a statement that returns these columns. */
export async function readRows<Column extends EngineColumn>(
  db: Queryable,
  columns: readonly Column[],
  statement: SQL,
): Promise<Decoded<Column>[]> {
  return (await db.query(statement)).map(decoder(columns));
}

/** Runs a statement that returns one row with these columns, or none. */
export async function readRow<Column extends EngineColumn>(
  db: Queryable,
  columns: readonly Column[],
  statement: SQL,
): Promise<Decoded<Column> | null> {
  return (await readRows(db, columns, statement))[0] ?? null;
}

/** Runs a statement that returns one column of texts; null is left out. */
export async function readTexts(db: Queryable, statement: SQL): Promise<string[]> {
  return (await db.query(statement)).flatMap((row) => first(row) ?? []).map(String);
}

/** Runs a statement that returns one number; null if there is no row, or no number in it. */
export async function readNumber(db: Queryable, statement: SQL): Promise<number | null> {
  const [row] = await db.query(statement);
  const value = row === undefined ? null : first(row);
  return value === null ? null : Number(value);
}

/** A list is counted up to here for a person: more would take long, and say nothing new. */
export const MOST_COUNTED = 10_000;

/** Counts rows, `from` a table and their condition on; `most` and one where there are more. */
export async function countUpTo(db: Queryable, from: SQL, most = MOST_COUNTED): Promise<number> {
  const some = sql`select 1 from ${from} limit ${most + 1}`;
  return (await readNumber(db, sql`select count(*) from (${some}) as counted`)) ?? 0;
}

export async function hasRow(db: Queryable, statement: SQL): Promise<boolean> {
  return (await db.query(statement)).length > 0;
}

const first = (row: Row): SqlValue => Object.values(row)[0] ?? null;

/** Inserts rows that cannot exist yet. All of them have the same columns. */
export async function insertRows<Column extends EngineColumn>(
  tx: Transaction,
  table: Columns<Column>,
  rows: readonly NewRow<Column>[],
): Promise<void> {
  if (rows.length > 0) await tx.insertRows(encode(table, rows));
}

/** Inserts rows, but none whose value in a unique column exists, and returns the ids of the inserted ones by that value. */
export const insertNew = async <Column extends EngineColumn>(
  tx: Transaction,
  table: Columns<Column>,
  rows: readonly NewRow<Column>[],
  key: Column['name'],
): Promise<ReadonlyMap<string, number>> =>
  rows.length === 0 ? new Map() : await tx.insertNew(encode(table, rows), key);

/** Gives existing rows new values. All of them have the same columns, among them all that an insert needs. */
export async function upsertRows<Column extends EngineColumn>(
  tx: Transaction,
  table: Columns<Column>,
  rows: readonly (NewRow<Column> & { readonly id: number })[],
): Promise<void> {
  if (rows.length > 0) await tx.upsertRows(encode(table, rows));
}

/** `insert into … values …`; the caller adds `on conflict` or `returning`. All rows have the same columns. */
export function insertInto<Column extends EngineColumn>(
  table: Columns<Column>,
  ...inserted: readonly NewRow<Column>[]
): SQL {
  const { columns, rows } = encode(table, inserted);
  const names = columns.map(identifier).join(', ');
  const values = rows.map((row) => sql`(${joinWithCommas(row.map((value) => value ?? NULL))})`);
  return sql`${sql.raw(`insert into ${identifier(table.name)} (${names}) values `)}${joinWithCommas(values)}`;
}

const NULL = sql.param(null);

/** The assignments of an update: `set …`. */
export function assignments<Column extends EngineColumn>(
  table: Columns<Column>,
  patch: Partial<Decoded<Column>>,
): SQL {
  const { columns, rows } = encode(table, [patch]);
  return joinWithCommas(columns.map((name, index) => sql`${sql.identifier(name)} = ${rows[0]?.[index]}`));
}

function encode(table: Columns<EngineColumn>, rows: readonly object[]): TableRows {
  const values = rows as readonly Readonly<Record<string, SqlValue>>[];
  const usedColumns = table.columns
    .map((column) => ({ name: column.name, key: toCamelCase(column.name) }))
    .filter((column) => values[0]?.[column.key] !== undefined);
  return {
    table: table.name,
    columns: usedColumns.map((column) => column.name),
    rows: values.map((row) => usedColumns.map((column) => row[column.key] ?? null)),
  };
}

function decoder<Column extends EngineColumn>(columns: readonly Column[]): (row: Row) => Decoded<Column> {
  const fields = columns.map((column) => ({
    name: column.name,
    key: toCamelCase(column.name),
    read: column.type === 'text' || column.type === 'timestamp' ? String : Number,
  }));
  return (row) => {
    const decoded: Record<string, SqlValue> = {};
    for (const { name, key, read } of fields) {
      const value = row[name] ?? null;
      decoded[key] = value === null ? null : read(value);
    }
    return decoded as Decoded<Column>;
  };
}

const camelNames = new Map<string, string>();

/** Each name of a column is turned once: some statements run for every page. */
function toCamelCase(name: string): string {
  const known = camelNames.get(name);
  if (known !== undefined) return known;
  const camelName = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  camelNames.set(name, camelName);
  return camelName;
}

/** A table whose rows processes claim: the columns `owner` and `epoch`, and the condition under which a row is due. */
interface WorkTable {
  readonly name: string;
  readonly isDue: SQL;
}

/** A process's claim of a row. */
export interface WorkClaim extends WorkRef {
  readonly owner: string;
  readonly now: Date;
}

/** Claims a due row by compare-and-set and raises its epoch; returns the row, or none if another process was first. */
export function claimRow(table: WorkTable, { owner, now, ...ref }: WorkClaim): SQL {
  const set = sql`owner = ${owner}, epoch = epoch + 1, updated_at = ${formatInstant(now)}`;
  return sql`update ${sql.identifier(table.name)} set ${set} ${whereFree(table, ref)} returning *`;
}

/** Raises the epoch of a row that is still due with this one; null if it is not. */
export async function raiseRowEpoch(
  tx: Transaction,
  table: WorkTable,
  ref: WorkRef,
): Promise<WorkRef | null> {
  const raise = sql`update ${sql.identifier(table.name)} set epoch = epoch + 1 ${whereFree(table, ref)} returning epoch`;
  const epoch = await readNumber(tx, raise);
  return epoch === null ? null : { id: ref.id, epoch };
}

const whereFree = (table: WorkTable, ref: WorkRef): SQL =>
  sql`where id = ${ref.id} and epoch = ${ref.epoch} and owner is null and ${table.isDue}`;
