import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { columnType, idColumn } from '../../catalog/kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { LONGEST_IDENTIFIER } from '../../catalog/reserved-names.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { TABLES_SCHEMA, identifier } from '../../db/session/sql-text.ts';
import { kindColumns, nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { Column, Dialect } from '../tables/kind-table.ts';
import { hasRow, readTexts } from '../../db/rows/rows.ts';

/** Creates a kind's tables or adds their missing columns; tables grow and are never rebuilt. */
export async function growKindTable(tx: Transaction, kind: Kind, dialect: Dialect): Promise<void> {
  await grow(tx, { name: kind.name, columns: kindColumns(kind, dialect), create: createTable });
  for (const table of nestedTables(kind))
    await grow(tx, { name: table.name, columns: nestedColumns(table, dialect), create: createNested });
}

interface Growing {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly create: (name: string, columns: readonly Column[]) => readonly string[];
}

async function grow(tx: Transaction, { name, columns, create }: Growing): Promise<void> {
  const present = await tx.columnsOf(name);
  const missing = columns.filter((column) => !present.has(column.name));
  const statements = present.size === 0 ? create(name, columns) : addColumns(tx.dialect, name, missing);
  for (const statement of statements) {
    await tx.execute(statement);
    await yieldToEventLoop(); // Of hundreds of new columns, each takes SQLite milliseconds.
  }
}

function createTable(name: string, columns: readonly Column[]): string[] {
  const table = identifier(name);
  return [
    `create table ${table} (\n  ${columns.map(definition).join(',\n  ')}\n)`,
    // Nearly always empty, so it costs nothing; with it, live rows are counted without reading them.
    `create index ${identifier(`${name}_deleted`)} on ${table} (_deleted_at) where _deleted_at is not null`,
  ];
}

/** No key over parent and position: parents come in any order, and to keep elements in theirs costs twice the insert. */
function createNested(name: string, columns: readonly Column[]): string[] {
  const table = identifier(name);
  return [
    `create table ${table} (\n  ${columns.map(definition).join(',\n  ')}\n);
    create index ${identifier(`${name}_parents`)} on ${table} (parent_id)`,
  ];
}

/** SQLite adds one column a statement. PostgreSQL takes all in one, which changes its catalogue once. */
function addColumns(dialect: Dialect, name: string, columns: readonly Column[]): string[] {
  const added = columns.map((column) => `add column ${definition(column)}`);
  const changes = dialect === 'postgres' && added.length > 0 ? [added.join(', ')] : added;
  return changes.map((change) => `alter table ${identifier(name)} ${change}`);
}

const definition = ({ name, type, rule }: Column): string =>
  [identifier(name), type, rule ?? ''].join(' ').trimEnd();

interface ReportIndex {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/**
 * Makes the missing indexes on the references and dates of these kinds, which reports join and filter by, and one that counts
 * live rows and finds changed ones without the table. A kind gets them after its baseline, because they would slow its first
 * load.
 * @throws {MirrorError} `mirror.locked` on PostgreSQL if a transaction of another program that writes there does not end;
 * missing indexes are made after the next run.
 */
export async function makeReportIndexes(session: Session, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    const settled = sql`select 1 from kind_state where kind = ${kind.name} and baseline_at is not null`;
    if (!(await hasRow(session, settled))) continue;
    for (const index of await missingIndexes(session, kind)) await makeIndex(session, index);
  }
}

async function makeIndex(session: Session, { name, table, columns }: ReportIndex): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.execute(
      `create index if not exists ${identifier(name)} on ${identifier(table)} (${columns.map(identifier).join(', ')})`,
    );
  });
}

async function missingIndexes(session: Session, kind: Kind): Promise<readonly ReportIndex[]> {
  const { dialect } = session;
  const columns = await session.atomically((tx) => tx.columnsOf(kind.name));
  const present = new Set(await readTexts(session, INDEXES[dialect](kind.name)));
  const isReported = (type: string): boolean => type === 'date' || type === 'timestamp';
  return [...new Map([...kind.fields, ...kind.hints].map((field) => [field.name, field])).values()]
    .filter((field) => columns.has(field.name))
    .filter((field) => (field.refersTo ?? field.recordOf) !== undefined || isReported(columnType(field)))
    .map(({ name, recordOf }) => (recordOf === undefined ? name : idColumn(name)))
    .concat('_changed_at')
    .map((column) => ({
      name: indexName(kind.name, column),
      table: kind.name,
      columns: column === '_changed_at' ? [column, '_deleted_at'] : [column],
    }))
    .filter(({ name }) => !present.has(name));
}

const INDEXES: Record<Dialect, (table: string) => SQL> = {
  sqlite: (table) => sql`select name from sqlite_schema where type = 'index' and tbl_name = ${table}`,
  postgres: (table) => sql`
    select indexname from pg_indexes where schemaname = ${TABLES_SCHEMA} and tablename = ${table}`,
};

/** `clients_creation_date_index`; a name too long for PostgreSQL gets a digest in its place. */
function indexName(table: string, column: string): string {
  const name = `${table}_${column}_index`;
  if (Buffer.byteLength(name) <= LONGEST_IDENTIFIER) return name;
  return `${table}_${createHash('sha256').update(column).digest('hex').slice(0, 16)}_index`;
}
