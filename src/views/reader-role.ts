import { sql } from 'drizzle-orm';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Queryable, Transaction } from '../db/session/session.ts';
import { VIEWS_SCHEMA, identifier, qualifiedName } from '../db/session/sql-text.ts';
import { hasRow, readRows, readTexts } from '../db/rows/rows.ts';

/** The role that may read the views, as the mirror remembers it; null if there is none. */
export const grantedRole = (db: Queryable): Promise<string | null> => readMeta(db, 'bi.reader_role');

/**
 * Stores which role may read the views, and revokes the right of the previous one.
 * @throws {MirrorError} `mirror.no_reader_role` if there is no such role.
 */
export async function setReaderRole(tx: Transaction, role: string | null, location: string): Promise<void> {
  if (role !== null && !(await hasRole(tx, role))) throw noSuchRole(role, location);
  const before = await grantedRole(tx);
  const guarded = sql`
    select relname from pg_class c where relnamespace = 'public'::regnamespace
      and exists (select from pg_trigger where tgrelid = c.oid and tgname = 'bms_sync_refuses')`;
  if (before !== null && before !== role && (await hasRole(tx, before)))
    for (const view of await readTexts(tx, guarded))
      await tx.execute(`revoke select on ${qualifiedName(view)} from ${identifier(before)}`);
  await writeMeta(tx, 'bi.reader_role', role);
}

/** Grants the reader role, if there is one, the right to read these views. */
export async function grantToReader(tx: Transaction, views: readonly string[]): Promise<void> {
  const role = await grantedRole(tx);
  if (role === null || views.length === 0) return;
  const reader = identifier(role);
  await tx.execute(
    `grant usage on schema ${VIEWS_SCHEMA} to ${reader}; grant select on ${views.map(qualifiedName).join(', ')} to ${reader}`,
  );
}

export const hasRole = (db: Queryable, role: string): Promise<boolean> =>
  hasRow(db, sql`select 1 from pg_roles where rolname = ${role}`);

export function noSuchRole(role: string, location: string): MirrorError {
  return new MirrorError(`${location} has no role ${identifier(role)}, which bi.readerRole names.`, {
    code: 'mirror.no_reader_role',
    hint: `Make it, or correct bi.readerRole: create role ${identifier(role)} login password '…';`,
  });
}

/** A role's rights in a mirror. */
export type Rights = Awaited<ReturnType<typeof rightsOf>>;

/** Reads a role's rights on our views and tables, granted to itself or to roles that it is a member of. */
export async function rightsOf(db: Queryable, role: string) {
  const relations = sql`
    select relname as name, relkind as kind,
      has_schema_privilege(${role}, relnamespace, 'usage') and has_table_privilege(${role}, c.oid, 'select') as reads,
      has_schema_privilege(${role}, relnamespace, 'usage')
        and has_table_privilege(${role}, c.oid, 'insert, update, delete, truncate') as writes
    from pg_class c
    where relkind in ('r', 'v') and relnamespace = 'bms_sync'::regnamespace
      or relkind = 'v' and exists (select from pg_trigger where tgrelid = c.oid and tgname = 'bms_sync_refuses')
    order by relname`;
  const rows = await readRows(db, { name: String, kind: String, reads: Number, writes: Number }, relations);
  const names = (isMeant: (row: (typeof rows)[number]) => boolean): string[] =>
    rows.filter(isMeant).map((row) => row.name);
  return {
    unreadable: names((row) => row.kind === 'v' && row.reads === 0),
    /** Views that it has rights to write; the views refuse them nevertheless. */
    writable: names((row) => row.kind === 'v' && row.writes === 1),
    /** Tables that it can read or write. */
    tables: names((row) => row.kind === 'r' && (row.reads === 1 || row.writes === 1)),
  };
}
