import { statSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Session, Transaction } from './session.ts';

/** Names the database and its version. */
export async function databaseVersion(session: Session): Promise<string> {
  const isSqlite = session.dialect === 'sqlite';
  const [row = {}] = await session.query(
    isSqlite ? sql`select sqlite_version() as v` : sql`show server_version`,
  );
  return `${isSqlite ? 'SQLite' : 'PostgreSQL'} ${String(Object.values(row)[0])}`;
}

/**
 * Returns an id that differs between a database and its copies, whatever path or address is used: for a file its
 * inode and birth time, for PostgreSQL the identifiers of the server and the database.
 */
export async function databaseIdentity(session: Session): Promise<string> {
  if (session.dialect === 'sqlite') {
    const { ino, birthtimeNs } = statSync(session.location, { bigint: true });
    return `${ino}:${birthtimeNs}`;
  }
  const [row] = await session.query(sql`
    select (select system_identifier from pg_control_system()) || ':' || oid as place
    from pg_database where datname = current_database()`);
  return String(row?.['place']);
}

/** When the server of a database started: one that takes its place at the same address, or is restarted, shows another instant. */
export async function readServerStart(db: Session | Transaction): Promise<string> {
  if (db.dialect === 'sqlite') return '';
  const [row] = await db.query(
    sql`select cast(extract(epoch from pg_postmaster_start_time()) as text) as start`,
  );
  return String(row?.['start']);
}

/** Whether the user of a connection to PostgreSQL may create schemas in its database. */
export async function canCreateSchema(session: Session): Promise<boolean> {
  const right = sql`select 1 as may where has_database_privilege(current_database(), 'create')`;
  return (await session.query(right)).length > 0;
}

/** Whether a PostgreSQL server waits for its disk: without `fsync` a power cut damages the database, or takes it back unnoticed. */
export async function hasFsync(session: Session): Promise<boolean> {
  const [row] = await session.query(sql`show fsync`);
  return row?.['fsync'] === 'on';
}
