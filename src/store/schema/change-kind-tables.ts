import { hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql, type SQL } from 'drizzle-orm';
import { columnType, idColumnName, isListed, type Field, type Kind } from '../../catalog/kind.ts';
import { MAX_IDENTIFIER_BYTES } from '../../catalog/reserved-names.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { TABLES_SCHEMA, VIEWS_SCHEMA, identifier } from '../../db/session/sql-text.ts';
import { readMirroredKind } from '../kinds/field-store.ts';
import { noteUnfilled } from '../kinds/unfilled.ts';
import { KEY_COLUMN, keyedFields } from '../tables/key-column.ts';
import { SEARCH_COLUMN } from '../tables/search-text.ts';
import {
  kindColumns,
  nestedColumns,
  nestedTables,
  searchTables,
  type Column,
  type Dialect,
  type SearchTable,
} from '../tables/kind-table.ts';
import { hasRow, readTexts } from '../../db/rows/rows.ts';
import { guardTable } from './guard-tables.ts';
import { fillColumn } from './fill-columns.ts';

/** Creates a kind's tables, or adds their missing columns and guards; tables grow and are never rebuilt. */
export async function changeKindTables(tx: Transaction, kind: Kind, dialect: Dialect): Promise<void> {
  const added = new Set(await changeTable(tx, kind.name, kindColumns(kind, dialect), DELETED));
  for (const table of nestedTables(kind)) {
    const { name } = table;
    for (const column of await changeTable(tx, name, nestedColumns(table, dialect), PARENTS))
      added.add(column);
    // They have no key, and PostgreSQL refuses deletes from such a table once somebody publishes all tables.
    if (dialect === 'postgres') await tx.execute(`alter table ${identifier(name)} replica identity full`);
  }
  for (const column of [KEY_COLUMN, SEARCH_COLUMN])
    if (added.has(column)) await noteUnfilled(tx, kind, column);
}

/** Nearly always empty, so it costs nothing; with it, live rows are counted without reading them. */
const DELETED = { end: 'deleted', on: '(_deleted_at) where _deleted_at is not null' };
/** No key over parent and position: parents come in any order, and to keep elements in theirs costs twice the insert. */
const PARENTS = { end: 'parents', on: '(parent_id)' };

/** @param index The first index of a new table. @returns The columns that the table did not have, unless it is new. */
async function changeTable(
  tx: Transaction,
  name: string,
  columns: readonly Column[],
  index: typeof DELETED,
): Promise<readonly string[]> {
  const present = await tx.listColumns(name);
  const missing = columns.filter((column) => !present.has(column.name));
  const statements =
    present.size === 0 ? createTable(name, columns, index) : addColumns(tx.dialect, name, missing);
  for (const statement of statements) {
    await tx.execute(statement);
    await yieldToEventLoop(); // Of hundreds of new columns, each takes SQLite milliseconds.
  }
  await guardTable(tx, name);
  return present.size === 0 ? [] : missing.map((column) => column.name);
}

/** A text has another width in each row: the place of a column behind one has to be computed row by row. */
const BY_WIDTH = [/^bigint/i, /^(timestamp|date|time$|integer|real)/i, /^numeric/i, /^/];

const rankOf = ({ name, type }: Column): number =>
  name === '_deleted_at' ? -1 : BY_WIDTH.findIndex((types) => types.test(type));

/** The columns of a new table in the order that scans read fastest: `_deleted_at`, which each view reads, first, `_raw` last. */
const sortedByWidth = (columns: readonly Column[]): readonly Column[] =>
  columns.toSorted((one, other) => rankOf(one) - rankOf(other));

function createTable(name: string, columns: readonly Column[], { end, on }: typeof DELETED): string[] {
  const table = identifier(name);
  return [
    `create table ${table} (\n  ${sortedByWidth(columns).map(definition).join(',\n  ')}\n)`,
    `create index ${identifier(`${name}_${end}`)} on ${table} ${on}`,
  ];
}

/** SQLite adds one column a statement. PostgreSQL takes all in one, which changes its catalogue once. */
function addColumns(dialect: Dialect, name: string, columns: readonly Column[]): string[] {
  const added = columns.map((column) => `add column ${definition(column)}`);
  const changes = dialect === 'postgres' && added.length > 0 ? [added.join(', ')] : added;
  return changes.map((change) => `alter table ${identifier(name)} ${change}`);
}

const definition = (column: Column): string =>
  [identifier(column.name), column.type, column.rule ?? ''].join(' ').trimEnd();

interface ReportIndex {
  readonly name: string;
  readonly table: string;
  readonly column?: string;
  /** What is indexed, as SQL after the name of the table. */
  readonly on: string;
}

/**
 * Makes the missing indexes on the references, also of nested arrays, and the dates of these kinds, which reports join and filter by, one that counts live
 * rows and finds changed ones without the table, one on the natural key, and fills and indexes the search text. A kind gets them after its baseline,
 * because they would slow its first load; one without a list has no baseline.
 * @throws {MirrorError} `mirror.locked` on PostgreSQL if a transaction of another program that writes there does not end;
 * missing indexes are made after the next run.
 */
export async function createReportIndexes(session: Session, kinds: readonly Kind[], signal?: AbortSignal) {
  const present = await readTexts(session, INDEXES[session.dialect]);
  for (const kind of kinds) {
    if (signal?.aborted) return;
    const settled = sql`select 1 from kind_state where kind = ${kind.name} and baseline_at is not null`;
    if (isListed(kind) && !(await hasRow(session, settled))) continue;
    const mirrored = await readMirroredKind(session, kind);
    for (const index of reportIndexes(mirrored))
      if (!present.includes(index.name)) await createIndex(session, index);
    await fillColumn(session, mirrored, SEARCH_COLUMN, signal);
    if (signal?.aborted) return;
    for (const table of searchTables(mirrored)) await createSearchIndex(session, table, present);
  }
}

async function createIndex(session: Session, index: ReportIndex, former?: string): Promise<void> {
  const { name, table, on } = index;
  await session.atomically(async (tx) => {
    await tx.execute(`create index if not exists ${identifier(name)} on ${identifier(table)} ${on}`);
    if (former !== undefined) await tx.execute(`drop index if exists ${identifier(former)}`);
  });
}

/** Below so many rows PostgreSQL reads all texts in a tenth of a second, and their index would take longer than a pull. */
const ROWS_WITH_TRIGRAMS = 200_000;

/** Makes the index of what is searched. SQLite reads it through; PostgreSQL looks for the parts of the text. */
async function createSearchIndex(
  session: Session,
  { name: table, id }: SearchTable,
  present: readonly string[],
): Promise<void> {
  const former = indexName(table, 'search');
  const isOfView = session.dialect === 'sqlite' && id === 'id'; // It leaves out deleted records.
  const name = isOfView ? indexName(table, 'live_search') : former;
  if (present.includes(name)) return;
  const columns = isOfView ? `(id, _deleted_at, ${SEARCH_COLUMN})` : `(${id}, ${SEARCH_COLUMN})`;
  const on = session.dialect === 'sqlite' ? columns : await trigramsOf(session, table);
  if (on !== null) await createIndex(session, { name, table, on }, isOfView ? former : undefined);
}

async function trigramsOf(session: Session, table: string): Promise<string | null> {
  const isLong = sql`select 1 from ${sql.identifier(table)} offset ${ROWS_WITH_TRIGRAMS} limit 1`;
  const trigrams = (await hasRow(session, isLong)) ? await ensureTrigrams(session) : null;
  return trigrams && `using gin (${SEARCH_COLUMN} ${trigrams})`;
}

/** PostgreSQL's operators that find any part of a text by an index; null where we may not install them: a search takes longer. */
async function ensureTrigrams(session: Session): Promise<string | null> {
  const mayInstall = sql`
    select 1 from pg_available_extensions where name = 'pg_trgm' and installed_version is null
      and has_database_privilege(current_database(), 'create')`;
  if (await hasRow(session, mayInstall))
    await session.atomically((tx) =>
      tx.execute(`create extension if not exists pg_trgm schema ${VIEWS_SCHEMA}`),
    );
  const [place] = await readTexts(
    session,
    sql`
      select nspname from pg_opclass join pg_namespace n on n.oid = opcnamespace where opcname = 'gin_trgm_ops'`,
  );
  return place === undefined ? null : `${identifier(place)}.gin_trgm_ops`;
}

/** The indexes that the table of a kind, as mirrored, and those of its nested arrays are to have, search apart. */
export function reportIndexes(kind: Kind): readonly ReportIndex[] {
  const { name: table } = kind;
  const changed = { name: indexName(table, '_changed_at'), table, on: '(_changed_at, _deleted_at)' };
  const key = { name: indexName(table, KEY_COLUMN), table, on: `(${KEY_COLUMN})` };
  const own = keyedFields(kind).length > 0 ? [changed, key] : [changed];
  const nested = nestedTables(kind).flatMap(({ name, items }) => indexesOn(name, items, false));
  return [...own, ...indexesOn(table, kind.fields, true), ...nested];
}

/** The company of a record: its rows are nearly the whole table. */
const COMPANY = 'system_id';

/** Whether a column names a record, also one of a kind that the service has no list of: a purchase, a user, an appointment. */
const isReference = (field: Field): boolean =>
  (field.refersTo ?? field.recordOf) !== undefined ||
  (columnType(field) === 'integer' && field.name.endsWith('_id') && field.name !== COMPANY);

/** The indexes on the references among these fields, and on the dates if reports filter by them. */
function indexesOn(table: string, fields: readonly Field[], withDates: boolean): readonly ReportIndex[] {
  const isDate = (field: Field): boolean => ['date', 'timestamp'].includes(columnType(field));
  return fields
    .filter((field) => isReference(field) || (withDates && isDate(field)))
    .map(({ name, recordOf }) => (recordOf === undefined ? name : idColumnName(name)))
    .map((column) => ({ name: indexName(table, column), table, column, on: `(${identifier(column)})` }));
}

const INDEXES: Record<Dialect, SQL> = {
  sqlite: sql`select name from sqlite_schema where type = 'index'`,
  postgres: sql`select indexname from pg_indexes where schemaname = ${TABLES_SCHEMA}`,
};

/** `clients_creation_date_index`; a name too long for PostgreSQL gets a digest in its place. */
function indexName(table: string, column: string): string {
  const name = `${table}_${column}_index`;
  if (Buffer.byteLength(name) <= MAX_IDENTIFIER_BYTES) return name;
  return `${table}_${hash('sha256', column).slice(0, 16)}_index`;
}
