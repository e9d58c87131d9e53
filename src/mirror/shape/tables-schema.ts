import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/session/session.ts';
import { SEARCH_PATH, TABLES_SCHEMA, identifier } from '../../db/session/sql-text.ts';
import { integer, text } from '../../db/rows/engine-column.ts';
import { readRow } from '../../db/rows/rows.ts';

/**
 * Creates PostgreSQL's schema of our tables, and lets the mirror's own user find them there by their short names, as the SQL
 * of its applications does.
 */
export async function makeTablesSchema(tx: Transaction): Promise<void> {
  await tx.execute(`create schema if not exists ${TABLES_SCHEMA}`);
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
