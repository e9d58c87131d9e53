import { sql } from 'drizzle-orm';
import { MirrorError } from '../session/errors.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { SEARCH_PATH, identifier, sqlList } from '../session/sql-text.ts';
import { integer, optionalText, text } from '../tables/engine-column.ts';
import { readRows } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';
import { grantStatements, readGrants } from '../views/reader-role.ts';

/** An object of a user's own that blocks a migration. */
export interface Obstacle {
  /** The name with its schema, quoted if needed. */
  readonly name: string;
  /** SQL that drops it; null if unknown. */
  readonly drop: string | null;
  /** SQL that creates it again; null if unknown. */
  readonly create: string | null;
}

/**
 * The error that names the users' objects that block a migration, with SQL to drop and to recreate them.
 *
 * @param obstacles Dependants before the objects that they need.
 */
export function obstaclesError(obstacles: readonly Obstacle[], location: string): MirrorError {
  const names = obstacles.map(({ name }) => name).join(', ');
  const statements = (of: readonly Obstacle[], step: 'drop' | 'create'): string =>
    of.map((obstacle) => obstacle[step] ?? `-- ${obstacle.name}: no SQL is known.`).join('\n');
  return new MirrorError(
    `${location} cannot be migrated: what you have built on it needs columns that change their type or place: ${names}.`,
    {
      code: 'mirror.blocked_by_view',
      hint: [
        'Nothing was changed. Drop these, run bms-sync migrate, and make them again; adapt their SQL where it compares a column whose type changes:',
        statements(obstacles, 'drop'),
        '-- bms-sync migrate',
        statements([...obstacles].reverse(), 'create'),
      ].join('\n'),
    },
  );
}

/** A dependency between two database objects, each named by a unique key. */
export interface Use {
  readonly dependent: string;
  readonly target: string;
  /** The number of the column that it needs; 0 for the whole object. */
  readonly column: number;
}

/** These objects and all that depend on them, in the order in which they can be dropped: dependants first. */
export function withAllAbove(uses: readonly Use[], objects: Iterable<string>): readonly string[] {
  const dependents = new Map<string, string[]>();
  for (const { dependent, target } of uses)
    dependents.set(target, [...(dependents.get(target) ?? []), dependent]);
  const [seen, ordered] = [new Set<string>(), [] as string[]];
  const visit = (object: string): void => {
    if (seen.has(object)) return;
    seen.add(object);
    for (const dependent of dependents.get(object) ?? []) visit(dependent);
    ordered.push(object);
  };
  for (const object of objects) visit(object);
  return ordered;
}

/** Reads the dependencies on tables and views. A key consists of a catalogue's number and the object's number in it. */
export async function readUses(db: Queryable): Promise<readonly Use[]> {
  const uses = sql`
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
      and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;
  return readRows(db, [text('dependent'), text('target'), integer('column')], uses);
}

const OBJECT = [
  text('key'),
  optionalText('oid'),
  text('type'),
  text('identity'),
  optionalText('rule'),
  optionalText('function'),
  optionalText('view'),
  optionalText('options'),
  optionalText('owner'),
  optionalText('indexes'),
];

type DatabaseObject = RowOf<typeof OBJECT>;

/** Finds the names of objects by their keys, and the SQL that drops and recreates them, every name with its schema. */
export async function describeObstacles(
  tx: Transaction,
  keys: readonly string[],
): Promise<readonly Obstacle[]> {
  if (keys.length === 0) return [];
  await tx.execute(`set local search_path to ''`); // With an empty search path PostgreSQL writes the schema of every name.
  const objects = sql`
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
    left join pg_proc p on p.oid = split_part(k.key, ':', 2)::oid and split_part(k.key, ':', 1)::oid = 'pg_proc'::regclass`;
  const rows = await readRows(tx, OBJECT, objects);
  const grants = await readGrants(
    tx,
    rows.flatMap(({ view, oid }) => (view === null ? [] : (oid ?? []))),
  );
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    if (row === undefined) return [];
    return [obstacleOf(row, grantStatements(row.identity, grants.get(row.oid ?? '') ?? []))];
  });
}

function obstacleOf(object: DatabaseObject, rights: readonly string[]): Obstacle {
  const { type, identity: name } = object;
  const create = creationOf(object, rights);
  return create === null
    ? { name: `${type} ${name}`, drop: null, create: null }
    : { name, drop: `drop ${type} ${name};`, create };
}

function creationOf(object: DatabaseObject, rights: readonly string[]): string | null {
  const { type, identity: name, rule, function: source, view, options, indexes, owner } = object;
  if (rule !== null) return rule;
  if (source !== null) return `${source.trimEnd()};`;
  if (view === null) return null;
  return [
    `create ${type} ${name}${options === null ? '' : ` with (${options})`} as\n${view}`,
    ...(indexes === null ? [] : [indexes]),
    ...(owner === null ? [] : [`alter ${type} ${name} owner to ${identifier(owner)};`]),
    ...rights.map((right) => `${right};`),
  ].join('\n');
}
