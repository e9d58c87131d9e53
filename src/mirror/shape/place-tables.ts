import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { ENGINE_TABLE_NAMES } from '../../catalog/reserved-names.ts';
import type { Session, Transaction } from '../session/session.ts';
import { SEARCH_PATH, TABLES_SCHEMA, VIEWS_SCHEMA, identifier } from '../session/sql-text.ts';
import { integer, text } from '../tables/engine-column.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { hasRow, readRow, readRows, readTexts } from '../tables/rows.ts';
import { namesOfViews } from '../views/views.ts';

/** Where the tables of an older release may be: in the default schema of the database's user. */
export interface Mirror {
  /** The schema of its tables; in a SQLite file, its only one. */
  readonly schema: string;
}

/** Finds the mirror of a database and sets the search path to its schema; null if there is none. */
export async function findMirror(tx: Transaction, dialect: Dialect): Promise<Mirror | null> {
  if ((await tx.columnsOf('mirror_meta')).size > 0)
    return { schema: dialect === 'postgres' ? TABLES_SCHEMA : 'main' };
  if (dialect === 'sqlite') return null;
  const schema = await defaultSchemaOf(tx, 'mirror_meta');
  const path = schema === null ? SEARCH_PATH : `${TABLES_SCHEMA}, ${identifier(schema)}, ${VIEWS_SCHEMA}`;
  await tx.execute(`set local search_path to ${path}`);
  return schema === null ? null : { schema };
}

/** The schema in which a connection finds an unqualified table name. */
async function defaultSchemaOf(tx: Transaction, table: string): Promise<string | null> {
  await tx.execute('set local search_path to default');
  const owner = sql`
    select nspname from pg_class
    join pg_namespace n on n.oid = relnamespace where pg_class.oid = to_regclass(${table}) and relkind = 'r'`;
  const [schema = null] = await readTexts(tx, owner);
  return schema;
}

/** Creates the schema of our tables, and moves an older release's tables into it with all rights on them. */
export async function placeTables(
  tx: Transaction,
  mirror: Mirror | null,
  kinds: readonly Kind[],
): Promise<void> {
  await tx.execute(`create schema if not exists ${TABLES_SCHEMA}`);
  if (mirror !== null && mirror.schema !== TABLES_SCHEMA) await moveFrom(tx, mirror.schema, kinds);
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  await keepShortNames(tx);
}

/** Indexes and the sequences of identity columns go with their tables; objects that depend on a table keep working. */
async function moveFrom(tx: Transaction, schema: string, kinds: readonly Kind[]): Promise<void> {
  const known = await readTexts(tx, sql`select kind from kind_state union select kind from fields`);
  const tables = [...ENGINE_TABLE_NAMES, ...kinds.map(({ name }) => name), ...known];
  const views = await namesOfViews(tx, kinds, 'postgres');
  const objects = sql`
    select relname as name, relkind as kind from pg_class
    where relkind in ('r', 'v') and relnamespace = ${identifier(schema)}::regnamespace order by oid`;
  const present = await readRows(tx, [text('name'), text('kind')], objects);
  const move = async (kind: 'r' | 'v', names: ReadonlySet<string>, to: string): Promise<void> => {
    for (const { name } of present.filter((object) => object.kind === kind && names.has(object.name)))
      await tx.execute(
        `alter ${kind === 'r' ? 'table' : 'view'} ${identifier(schema)}.${identifier(name)} set schema ${to}`,
      );
  };
  await move('r', new Set(tables), TABLES_SCHEMA);
  if (schema !== VIEWS_SCHEMA) await move('v', views, VIEWS_SCHEMA);
}

/**
 * Lets the mirror's own user find our tables by their short names: SQL of its applications goes on, and an older release,
 * which looks by short names only, finds that the mirror is newer than itself rather than none.
 */
async function keepShortNames(tx: Transaction): Promise<void> {
  await tx.execute('set local search_path to default');
  const setting = sql`
    select setting as path, source, current_database() as database, ${TABLES_SCHEMA} = any(current_schemas(false)) as has
    from pg_settings where name = 'search_path'`;
  const row = await readRow(tx, [text('path'), text('source'), text('database'), integer('has')], setting);
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  if (row === null || row.has === 1 || row.source === 'client') return; // The connection's address may set it, too.
  const { path, database } = row;
  const schemas = path === '""' || path === '' ? TABLES_SCHEMA : `${path}, ${TABLES_SCHEMA}`;
  await tx.execute(
    `alter role session_user in database ${identifier(database)} set search_path to ${schemas}`,
  );
}

/** Whether a database holds a mirror, of this release or an earlier one; creates nothing. */
export async function isMirrorPresent(session: Session): Promise<boolean> {
  return hasRow(
    session,
    session.dialect === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = 'mirror_meta'`
      : sql`select 1 where to_regclass('mirror_meta') is not null`,
  );
}
