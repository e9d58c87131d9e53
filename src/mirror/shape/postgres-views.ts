import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { TABLES_SCHEMA, VIEWS_SCHEMA, identifier, placeOf, sqlList } from '../session/sql-text.ts';
import { text } from '../tables/engine-column.ts';
import { hasRow, readRows, readTexts } from '../tables/rows.ts';
import { drawRefusal, openToReaders, selectOf } from '../views/draw-views.ts';
import type { View } from '../views/draw-views.ts';
import { grantStatements, readGrants } from '../views/reader-role.ts';
import type { Grant } from '../views/reader-role.ts';
import { namesOfViews } from '../views/views.ts';
import { describeObstacles, readUses, withAllAbove } from './obstacles.ts';
import type { Obstacle, Use } from './obstacles.ts';
import type { Retyping } from './plan-retyping.ts';

/** Our views of a mirror before its tables are changed. */
interface ViewsBefore {
  /** By key. */
  readonly views: ReadonlyMap<string, OurView>;
  readonly uses: readonly Use[];
  /** Users' objects on columns that change their type; they were dropped, so the transaction must not land. */
  readonly obstacles: readonly Obstacle[];
}

interface OurView {
  readonly name: string;
  readonly grants: readonly Grant[];
}

interface Upgrade {
  readonly kinds: readonly Kind[];
  /** An older release made the views: those without users' objects on them are recreated, columns in today's order. */
  readonly isOlder: boolean;
  readonly retyping: readonly Retyping[];
}

/** Drops the views that block the change of the tables, and an older release's views without users' objects on them. */
export async function dropViews(
  tx: Transaction,
  { kinds, isOlder, retyping }: Upgrade,
): Promise<ViewsBefore> {
  const views = await readViews(tx, await namesOfViews(tx, kinds, 'postgres'));
  const uses = await readUses(tx);
  const retyped = await keysOf(tx, retyping);
  const onRetyped = uses.filter(({ target, column }) => retyped.has(`${target}.${column}`));
  const mustGo = withAllAbove(
    uses,
    onRetyped.map(({ dependent }) => dependent),
  );
  const isFree = (view: string): boolean => withAllAbove(uses, [view]).every((key) => views.has(key));
  const going = new Set([...mustGo, ...(isOlder ? [...views.keys()].filter(isFree) : [])]);
  const obstacles = await describeObstacles(
    tx,
    mustGo.filter((key) => !views.has(key)),
  );
  const dropUsers = obstacles.map(({ drop }) => drop);
  for (const drop of dropUsers) if (drop !== null) await tx.execute(drop);
  if (!dropUsers.includes(null))
    for (const key of withAllAbove(uses, going)) {
      const view = views.get(key);
      if (view !== undefined) await tx.execute(`drop view ${placeOf(view.name)}`);
    }
  return { views, uses, obstacles };
}

/** The columns that change their types, as keys `RELATION.COLUMN`. */
async function keysOf(db: Queryable, retyping: readonly Retyping[]): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const { kind, columns } of retyping) {
    if (columns.length === 0) continue;
    const changed = sql`
      select 'pg_class'::regclass::oid || ':' || attrelid || '.' || attnum as key from pg_attribute
      where attrelid = to_regclass(${placeOf(kind.name)}) and attname in (${sqlList(columns.map(({ name }) => name))})`;
    for (const key of await readTexts(db, changed)) keys.add(key);
  }
  return keys;
}

/** Users' objects that depend on our views and tables. */
export async function allObstacles(tx: Transaction, kinds: readonly Kind[]): Promise<readonly Obstacle[]> {
  const views = await readViews(tx, await namesOfViews(tx, kinds, 'postgres'));
  const tables = sql`
    select 'pg_class'::regclass::oid || ':' || oid from pg_class
    where relkind = 'r' and relnamespace = ${TABLES_SCHEMA}::regnamespace`;
  const ours = new Set([...views.keys(), ...(await readTexts(tx, tables))]);
  return describeObstacles(
    tx,
    withAllAbove(await readUses(tx), ours).filter((key) => !ours.has(key)),
  );
}

async function readViews(db: Queryable, names: ReadonlySet<string>): Promise<Map<string, OurView>> {
  const present = sql`
    select oid, 'pg_class'::regclass::oid || ':' || oid as key, relname as name from pg_class
    where relkind = 'v' and relnamespace = ${VIEWS_SCHEMA}::regnamespace order by oid`;
  const views = await readRows(db, [text('oid'), text('key'), text('name')], present);
  const ours = views.filter(({ name }) => names.has(name));
  const grants = await readGrants(
    db,
    ours.map(({ oid }) => oid),
  );
  return new Map(ours.map(({ oid, key, name }) => [key, { name, grants: grants.get(oid) ?? [] }]));
}

/**
 * Replaces existing views and keeps the rights that users granted on them.
 *
 * @returns Users' objects on views that change by more than further columns at their end; the transaction must
 * not land if there are any.
 */
export async function redrawViews(
  tx: Transaction,
  views: readonly View[],
  { views: before, uses }: Pick<ViewsBefore, 'views' | 'uses'>,
): Promise<readonly Obstacle[]> {
  await drawRefusal(tx);
  const inTheWay: string[] = [];
  for (const view of views) {
    const [key, old] = [...before].find(([, { name }]) => name === view.name) ?? ['', null];
    const obstacles = withAllAbove(uses, [key]).filter((above) => above !== key);
    const isThere = (await tx.columnsOf(view.name)).size > 0;
    const mustGo = isThere && !(await onlyGrows(tx, view));
    if (mustGo && obstacles.length > 0) inTheWay.push(...obstacles);
    else await drawView(tx, view, { mustGo, grants: isThere && !mustGo ? [] : (old?.grants ?? []) });
  }
  await openToReaders(tx, views);
  return describeObstacles(
    tx,
    withAllAbove(uses, inTheWay).filter((key) => !before.has(key)),
  );
}

interface Drawing {
  readonly mustGo: boolean;
  readonly grants: readonly Grant[];
}

async function drawView(tx: Transaction, view: View, { mustGo, grants }: Drawing): Promise<void> {
  const place = placeOf(view.name);
  if (mustGo) await tx.execute(`drop view ${place}`);
  const present = await tx.columnsOf(view.name);
  await tx.execute(`create or replace view ${place} as ${selectOf(view, [...present])}`);
  const shown = new Set(view.columns.map(({ name }) => name));
  const held = grants.filter(({ column }) => column === null || shown.has(column));
  for (const grant of grantStatements(place, held)) await tx.execute(grant);
}

/** Whether an existing view keeps all its columns, with their types and in their order. */
async function onlyGrows(tx: Transaction, view: View): Promise<boolean> {
  const present = await tx.columnsOf(view.name);
  const draft = `${TABLES_SCHEMA}.${identifier(view.name)}`;
  await tx.execute(`create view ${draft} as ${selectOf(view, [...present])}`);
  const changed = sql`
    select 1 from pg_attribute old
    where attrelid = to_regclass(${placeOf(view.name)}) and attnum > 0 and not exists (
      select from pg_attribute new where new.attrelid = to_regclass(${draft}) and new.attnum = old.attnum
        and new.attname = old.attname and new.atttypid = old.atttypid
        and new.atttypmod = old.atttypmod and new.attcollation = old.attcollation)`;
  const isChanged = await hasRow(tx, changed);
  await tx.execute(`drop view ${draft}`);
  return !isChanged;
}
