import { sql } from 'drizzle-orm';
import { identifier } from '../session/identifier.ts';
import type { Queryable } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** A right of a role on a PostgreSQL table or view, or on one of its columns. */
export interface Grant {
  readonly privilege: string;
  readonly column: string | null;
  /** The role, quoted, or `public` for all roles. */
  readonly grantee: string;
  readonly mayGrant: boolean;
}

/** Reads the rights of roles other than the owner on these relations, given by their object ids. */
export async function readGrants(
  db: Queryable,
  relations: readonly string[],
): Promise<ReadonlyMap<string, readonly Grant[]>> {
  const found = new Map<string, Grant[]>();
  if (relations.length === 0) return found;
  const rows = await db.query(sql`
    select c.oid, a.name, x.privilege_type as privilege, x.is_grantable as grantable, pg_get_userbyid(nullif(x.grantee, 0)) as grantee
    from pg_class c
    cross join lateral (
      select null::name, c.relacl union all
      select attname, attacl from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) a(name, acl)
    cross join lateral aclexplode(a.acl) x
    where c.oid::text in (${sqlList(relations)}) and x.grantee <> c.relowner
    order by c.oid, a.name, x.grantee, x.privilege_type`);
  for (const row of rows) {
    const relation = String(row['oid']);
    const grant = {
      privilege: String(row['privilege']),
      column: row['name'] === null ? null : String(row['name']),
      grantee: row['grantee'] === null ? 'public' : identifier(String(row['grantee'])),
      mayGrant: row['grantable'] === 1,
    };
    found.set(relation, [...(found.get(relation) ?? []), grant]);
  }
  return found;
}

/** The statements that grant these rights on a relation, given as a quoted name with its schema. */
export function grantStatements(relation: string, grants: readonly Grant[]): readonly string[] {
  return grants.map(({ privilege, column, grantee, mayGrant }) => {
    const what = privilege.toLowerCase() + (column === null ? '' : ` (${identifier(column)})`);
    return `grant ${what} on ${relation} to ${grantee}${mayGrant ? ' with grant option' : ''}`;
  });
}
