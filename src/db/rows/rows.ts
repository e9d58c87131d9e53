import {
  Table,
  getTableColumns,
  getTableName,
  is,
  sql,
  type Column,
  type GetColumnData,
  type SQL,
} from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Queryable, Row, SqlValue, TableRows, Transaction } from '../session/session.ts';
import { identifier, inChunks } from '../session/sql-text.ts';
import { joinWithCommas, sqlList } from '../session/sql-list.ts';

/** Reads a value that is not null as a statement returns it. */
type Reader<Value extends SqlValue> = (value: string | number) => Value;

/** Columns of a table, or those of any statement: `{ kind: String, openIssues: Number }`. */
type Columns = Readonly<Record<string, Column | Reader<SqlValue>>>;

type Decoded<From> = {
  readonly [Name in keyof From]: From[Name] extends Column
    ? GetColumnData<From[Name]>
    : From[Name] extends Reader<infer Value>
      ? Value
      : never;
};

/** A row with these columns, under their names in camel case: `record_id text` is `recordId: string`. */
export type RowOf<From> = From extends Table ? From['$inferSelect'] : Decoded<From>;

/** A column that can hold null. */
export const orNull = <Value extends SqlValue>(read: Reader<Value>): Reader<Value | null> => read;

/** A column of texts that are the words of a type. */
export const wordOf =
  <Word extends string>(): Reader<Word> =>
  (value) =>
    String(value) as Word;

type ColumnsOf<From extends Table> = From['_']['columns'];

/** Some columns of a table. */
export function pickColumns<From extends Table, Name extends keyof ColumnsOf<From> & string>(
  table: From,
  ...names: readonly Name[]
): Pick<ColumnsOf<From>, Name> {
  const columns = getTableColumns(table);
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<ColumnsOf<From>, Name>;
}

/** All columns of a table but some. */
export function omitColumns<From extends Table, Name extends keyof ColumnsOf<From> & string>(
  table: From,
  ...names: readonly Name[]
): Omit<ColumnsOf<From>, Name> {
  const columns = Object.entries(getTableColumns(table));
  const isOmitted = (key: string): boolean => names.some((name) => name === key);
  return Object.fromEntries(columns.filter(([key]) => !isOmitted(key))) as Omit<ColumnsOf<From>, Name>;
}

/** All columns of a table, or some. */
export type TableColumns = Table | Readonly<Record<string, Column>>;

/** Reads rows of one table. @param rest What follows `select … from …`. */
export const select = <From extends TableColumns>(
  db: Queryable,
  from: From,
  rest: SQL,
): Promise<RowOf<From>[]> => selectFrom(db, fieldsOf(from)[0]?.table ?? '', from, rest);

/** Reads rows of a table or view. */
export async function selectFrom<From extends Table | Columns>(
  db: Queryable,
  name: string,
  from: From,
  rest: SQL,
): Promise<RowOf<From>[]> {
  const names = fieldsOf(from).map((field) => identifier(field.name));
  const start = sql.raw(`select ${names.join(', ')} from ${identifier(name)} `);
  return readRows(db, from, sql`${start}${rest}`);
}

/** Reads the first row; null if there is none. @param rest What follows `select … from …`. */
export async function selectOne<From extends TableColumns>(
  db: Queryable,
  from: From,
  rest: SQL,
): Promise<RowOf<From> | null> {
  return (await select(db, from, rest))[0] ?? null;
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
export async function readRows<From extends Table | Columns>(
  db: Queryable,
  from: From,
  statement: SQL,
): Promise<RowOf<From>[]> {
  return (await db.query(statement)).map(decoder(from));
}

/** Runs a statement that returns one row with these columns, or none. */
export async function readRow<From extends Table | Columns>(
  db: Queryable,
  from: From,
  statement: SQL,
): Promise<RowOf<From> | null> {
  return (await readRows(db, from, statement))[0] ?? null;
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
export async function insertRows<From extends Table>(
  tx: Transaction,
  table: From,
  rows: readonly From['$inferInsert'][],
): Promise<void> {
  if (rows.length > 0) await tx.insertRows(encode(table, rows));
}

/** Inserts rows, but none whose value in a unique column exists, and returns the ids of the inserted ones by that value. */
export const insertNew = async <From extends Table>(
  tx: Transaction,
  table: From,
  rows: readonly From['$inferInsert'][],
  key: string,
): Promise<ReadonlyMap<string, number>> =>
  rows.length === 0 ? new Map() : await tx.insertNew(encode(table, rows), key);

/** Gives existing rows new values. All of them have the same columns, among them all that an insert needs. */
export async function upsertRows<From extends Table>(
  tx: Transaction,
  table: From,
  rows: readonly (From['$inferInsert'] & { readonly id: number })[],
): Promise<void> {
  if (rows.length > 0) await tx.upsertRows(encode(table, rows));
}

/** `insert into … values …`; the caller adds `on conflict` or `returning`. All rows have the same columns. */
export function insertInto<From extends Table>(
  table: From,
  ...inserted: readonly From['$inferInsert'][]
): SQL {
  const { columns, rows } = encode(table, inserted);
  const names = columns.map(identifier).join(', ');
  const values = rows.map((row) => sql`(${joinWithCommas(row.map((value) => value ?? NULL))})`);
  return sql`${sql.raw(`insert into ${identifier(getTableName(table))} (${names}) values `)}${joinWithCommas(values)}`;
}

const NULL = sql.param(null);

/** The assignments of an update: `set …`. */
export function assignments<From extends TableColumns>(from: From, patch: Partial<RowOf<From>>): SQL {
  const { columns, rows } = encode(from, [patch]);
  return joinWithCommas(columns.map((name, index) => sql`${sql.identifier(name)} = ${rows[0]?.[index]}`));
}

function encode(from: TableColumns, rows: readonly object[]): TableRows {
  const values = rows as readonly Readonly<Record<string, unknown>>[];
  const used = fieldsOf(from).filter(({ key }) => values[0]?.[key] !== undefined);
  return {
    table: used[0]?.table ?? '',
    columns: used.map(({ name }) => name),
    rows: values.map((row) => used.map(({ key, write }) => write?.(row[key] ?? null) ?? null)),
  };
}

interface Field {
  readonly key: string;
  readonly name: string;
  readonly table: string;
  readonly read: (value: string | number) => unknown;
  /** Of columns of tables. */
  readonly write?: (value: unknown) => SqlValue;
}

function fieldOf([key, column]: [string, Columns[string]]): Field {
  if (typeof column === 'function') return { key, name: toSnakeCase(key), table: '', read: column };
  const read = (value: SqlValue): unknown => column.mapFromDriverValue(value);
  const write = (value: unknown) => (value === null ? null : (column.mapToDriverValue(value) as SqlValue));
  return { key, name: column.name, table: getTableName(column.table), read, write };
}

const knownFields = new WeakMap<object, readonly Field[]>();

/** They are found once: some statements run for every page. */
function fieldsOf(from: Table | Columns): readonly Field[] {
  const columns: Columns = is(from, Table) ? getTableColumns(from) : from;
  const fields = knownFields.get(columns) ?? Object.entries(columns).map(fieldOf);
  knownFields.set(columns, fields);
  return fields;
}

function decoder<From extends Table | Columns>(from: From): (row: Row) => RowOf<From> {
  const fields = fieldsOf(from);
  return (row) => {
    const decoded: Record<string, unknown> = {};
    for (const { name, key, read } of fields) {
      const value = row[name] ?? null;
      decoded[key] = value === null ? null : read(value);
    }
    return decoded as RowOf<From>;
  };
}

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A table whose rows processes claim: the columns `owner` and `epoch`, and the condition under which a row is due. */
interface WorkTable {
  readonly table: Table;
  readonly isDue: SQL;
}

/** A process's claim of a row. */
export interface WorkClaim extends WorkRef {
  readonly owner: string;
  readonly now: Date;
}

/** Claims a due row by compare-and-set and raises its epoch; returns the row, or none if another process was first. */
export function claimRow({ table, isDue }: WorkTable, { owner, now, ...ref }: WorkClaim): SQL {
  const set = sql`owner = ${owner}, epoch = epoch + 1, updated_at = ${formatInstant(now)}`;
  return sql`update ${table} set ${set} ${whereFree(isDue, ref)} returning *`;
}

/** Raises the epoch of a row that is still due with this one; null if it is not. */
export async function raiseRowEpoch(
  tx: Transaction,
  { table, isDue }: WorkTable,
  ref: WorkRef,
): Promise<WorkRef | null> {
  const raise = sql`update ${table} set epoch = epoch + 1 ${whereFree(isDue, ref)} returning epoch`;
  const epoch = await readNumber(tx, raise);
  return epoch === null ? null : { id: ref.id, epoch };
}

const whereFree = (isDue: SQL, ref: WorkRef): SQL =>
  sql`where id = ${ref.id} and epoch = ${ref.epoch} and owner is null and ${isDue}`;
