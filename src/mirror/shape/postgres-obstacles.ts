import { sql } from 'drizzle-orm';
import type { Use } from './built-on.ts';
import { grantStatements, readGrants } from '../views/grants.ts';
import { identifier } from '../session/identifier.ts';
import type { Obstacle } from './obstacle.ts';
import { SEARCH_PATH } from '../postgres/schemas.ts';
import type { Queryable, Row, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** Reads the dependencies on tables and views. A key consists of a catalogue's number and the object's number in it. */
export async function readUses(db: Queryable): Promise<readonly Use[]> {
  const rows = await db.query(sql`
    select distinct
      case when r.rulename = '_RETURN' then 'pg_class'::regclass::oid || ':' || r.ev_class
        else d.classid || ':' || d.objid end as dependent,
      'pg_class'::regclass::oid || ':' || c.oid as target,
      case when t.oid is null then d.refobjsubid else 0 end as column
    from pg_depend d
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    left join pg_type t on d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid and t.typrelid <> 0
    join pg_class c on c.oid = case d.refclassid when 'pg_class'::regclass then d.refobjid else t.typrelid end
    where d.deptype = 'n' and c.relkind in ('r', 'v', 'm') and c.oid <> coalesce(r.ev_class, d.objid)
      and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`);
  return rows.map(({ dependent, target, column }) => ({
    dependent: String(dependent),
    target: String(target),
    column: Number(column),
  }));
}

/** Finds the names of objects by their keys, and the SQL that drops and recreates them, every name with its schema. */
export async function describeObstacles(
  tx: Transaction,
  keys: readonly string[],
): Promise<readonly Obstacle[]> {
  if (keys.length === 0) return [];
  await tx.execute(`set local search_path to ''`); // With an empty search path PostgreSQL writes the schema of every name.
  const rows = await tx.query(sql`
    select k.key, c.oid, i.type, i.identity, pg_get_ruledef(r.oid) as rule,
      case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end as function,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as view,
      array_to_string(c.reloptions, ', ') as options,
      case when c.relowner <> session_user::regrole then pg_get_userbyid(c.relowner) end as owner,
      (select string_agg(pg_get_indexdef(x.indexrelid) || ';', E'\n') from pg_index x where x.indrelid = c.oid) as indexes
    from unnest(array[${sqlList(keys)}]::text[]) k(key)
    cross join lateral pg_identify_object(split_part(k.key, ':', 1)::oid, split_part(k.key, ':', 2)::oid, 0) i
    left join pg_class c on c.oid = split_part(k.key, ':', 2)::oid and split_part(k.key, ':', 1)::oid = 'pg_class'::regclass
    left join pg_rewrite r on r.oid = split_part(k.key, ':', 2)::oid and split_part(k.key, ':', 1)::oid = 'pg_rewrite'::regclass
    left join pg_proc p on p.oid = split_part(k.key, ':', 2)::oid and split_part(k.key, ':', 1)::oid = 'pg_proc'::regclass`);
  const grants = await readGrants(
    tx,
    rows.flatMap(({ view, oid }) => (view === null ? [] : [String(oid)])),
  );
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  const byKey = new Map(rows.map((row) => [String(row['key']), row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    if (row === undefined) return [];
    const rights = grantStatements(String(row['identity']), grants.get(String(row['oid'])) ?? []);
    return [obstacleOf(row, rights)];
  });
}

function obstacleOf(row: Row, rights: readonly string[]): Obstacle {
  const [type, name] = [String(row['type']), String(row['identity'])];
  const made = creationOf(row, rights);
  return made === null
    ? { name: `${type} ${name}`, drop: null, create: null }
    : { name, drop: `drop ${type} ${name};`, create: made };
}

function creationOf(row: Row, rights: readonly string[]): string | null {
  if (row['rule'] !== null) return String(row['rule']);
  if (row['function'] !== null) return `${String(row['function']).trimEnd()};`;
  if (row['view'] === null) return null;
  const [type, name] = [String(row['type']), String(row['identity'])];
  const options = row['options'] === null ? '' : ` with (${String(row['options'])})`;
  return [
    `create ${type} ${name}${options} as\n${String(row['view'])}`,
    ...(row['indexes'] === null ? [] : [String(row['indexes'])]),
    ...(row['owner'] === null ? [] : [`alter ${type} ${name} owner to ${identifier(String(row['owner']))};`]),
    ...rights.map((right) => `${right};`),
  ].join('\n');
}
