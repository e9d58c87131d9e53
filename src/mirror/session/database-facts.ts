import { statSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Session } from './session.ts';

/** Names the database and its version. */
export async function databaseVersion(session: Session): Promise<string> {
  const isSqlite = session.dialect === 'sqlite';
  const [row = {}] = await session.query(
    isSqlite ? sql`select sqlite_version() as v` : sql`show server_version`,
  );
  return `${isSqlite ? 'SQLite' : 'PostgreSQL'} ${String(Object.values(row)[0])}`;
}

/**
 * Tells a database apart from its copies, whatever paths and addresses lead to them: a file by its inode and the time of its
 * birth, a database on a server by the identifiers that the server gave itself and it.
 */
export async function databasePlace(session: Session): Promise<string> {
  if (session.dialect === 'sqlite') {
    const { ino, birthtimeNs } = statSync(session.location, { bigint: true });
    return `${ino}:${birthtimeNs}`;
  }
  const [row] = await session.query(sql`
    select (select system_identifier from pg_control_system()) || ':' || oid as place
    from pg_database where datname = current_database()`);
  return String(row?.['place']);
}

/** The size of a database on a server, in bytes. */
export async function postgresSize(session: Session): Promise<number> {
  const [row] = await session.query(sql`select pg_database_size(current_database()) as size`);
  return Number(row?.['size']);
}

/** Whether the user of a connection to PostgreSQL may create schemas in its database. */
export async function mayCreateSchema(session: Session): Promise<boolean> {
  const right = sql`select 1 as may where has_database_privilege(current_database(), 'create')`;
  return (await session.query(right)).length > 0;
}

/** How large a table is, by what the database notes of it: its rows are not counted. */
export interface TableSize {
  readonly table: string;
  /** About so many; null if it is not known. */
  readonly rows: number | null;
  /** With its indexes; null if it is not known. */
  readonly bytes: number | null;
}

/** The size of the whole database in bytes. */
export async function databaseSize(session: Session): Promise<number> {
  if (session.dialect === 'postgres') return postgresSize(session);
  const [row] = await session.query(sql`
    select page_count * page_size as size from pragma_page_count(), pragma_page_size()`);
  return Number(row?.['size']);
}

/** The sizes of the tables of the engine and of the kinds, by name. */
export async function tableSizes(session: Session): Promise<readonly TableSize[]> {
  return session.dialect === 'postgres' ? postgresSizes(session) : sqliteSizes(session);
}

async function postgresSizes(session: Session): Promise<readonly TableSize[]> {
  const rows = await session.query(sql`
    select c.relname as name, c.reltuples::bigint as rows, pg_total_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname = 'bms_sync' order by c.relname`);
  return rows.map((row) => {
    const estimate = Number(row['rows']); // -1 before the database has looked at the table.
    return { table: String(row['name']), rows: estimate < 0 ? null : estimate, bytes: Number(row['bytes']) };
  });
}

/** SQLite knows the size of a table only by reading all of it; its row numbers rise by one with every row. */
async function sqliteSizes(session: Session): Promise<readonly TableSize[]> {
  const tables = await session.query(sql`
    select name from pragma_table_list() where type = 'table' and schema = 'main' and wr = 0
      and name not like 'sqlite!_%' escape '!' order by name`);
  const sizes: TableSize[] = [];
  for (const { name } of tables) {
    const table = String(name);
    const [row] = await session.query(sql`
      select (select max(rowid) from ${sql.identifier(table)}) - (select min(rowid) from ${sql.identifier(table)}) + 1 as rows`);
    sizes.push({ table, rows: Number(row?.['rows'] ?? 0), bytes: null });
  }
  return sizes;
}
