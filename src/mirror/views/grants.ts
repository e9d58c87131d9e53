import { sql } from 'drizzle-orm';
import { identifier, sqlList } from '../session/sql-text.ts';
import type { Queryable } from '../session/session.ts';
import { integer, optionalText, text } from '../tables/engine-column.ts';
import { readRows } from '../tables/rows.ts';

/** A right of a role on a PostgreSQL table or view, or on one of its columns. */
export interface Grant {
  readonly privilege: string;
  readonly column: string | null;
  /** The role, quoted, or `public` for all roles. */
  readonly grantee: string;
  readonly mayGrant: boolean;
}

const RIGHT = [
  text('oid'),
  text('privilege'),
  optionalText('column'),
  optionalText('grantee'),
  integer('may_grant'),
];

/** Reads the rights of roles other than the owner on these relations, given by their object ids. */
export async function readGrants(
  db: Queryable,
  relations: readonly string[],
): Promise<ReadonlyMap<string, readonly Grant[]>> {
  const found = new Map<string, Grant[]>();
  if (relations.length === 0) return found;
  const rights = sql`
    select c.oid, a.name as column, x.privilege_type as privilege, x.is_grantable as may_grant, pg_get_userbyid(nullif(x.grantee, 0)) as grantee
    from pg_class c
    cross join lateral (
      select null::name, c.relacl union all
      select attname, attacl from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) a(name, acl)
    cross join lateral aclexplode(a.acl) x
    where c.oid::text in (${sqlList(relations)}) and x.grantee <> c.relowner
    order by c.oid, a.name, x.grantee, x.privilege_type`;
  for (const { oid, privilege, column, grantee, mayGrant } of await readRows(db, RIGHT, rights)) {
    const role = grantee === null ? 'public' : identifier(grantee);
    found.set(oid, [
      ...(found.get(oid) ?? []),
      { privilege, column, grantee: role, mayGrant: mayGrant === 1 },
    ]);
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
