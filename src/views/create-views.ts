import { sql } from 'drizzle-orm';
import { errorCode } from '../lib/sync-error.ts';
import { translatorFor, type Translations, type Language } from '../lib/text/translator.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Transaction } from '../db/session/session.ts';
import { TABLES_SCHEMA, identifier, qualifiedName, literal } from '../db/session/sql-text.ts';
import { sqlList } from '../db/session/sql-list.ts';
import { hasRow, insertRows, readRows, readTexts } from '../db/rows/rows.ts';
import type { FieldType } from '../catalog/kind.ts';
import type { FieldDescription } from '../catalog/descriptions.ts';
import { DICTIONARY, RELATIONS } from '../store/tables/engine-tables.ts';
import { readMeta } from '../store/kinds/meta.ts';
import { CREATE_REFUSE_FUNCTION, REFUSE_FUNCTION } from '../store/schema/guard-tables.ts';
import { grantToReader } from './reader-role.ts';

/** A database view, as the mirror declares it. */
export interface View {
  readonly name: string;
  readonly meaning: Translations;
  readonly columns: readonly ViewColumn[];
  /** The rest of the `select` after the columns: `from …`. */
  readonly from: string;
  /** Set for a view that only another view reads: the dictionary leaves it out. */
  readonly isInner?: true;
}

/** One column of a view, with its entry in the dictionary. */
export interface ViewColumn {
  readonly name: string;
  readonly expression: string;
  /** The type in the dictionary; `flag` is 0 or 1. */
  readonly type: FieldType;
  readonly description: FieldDescription;
  /** The section of the service's documentation that shows the field. */
  readonly section?: string | undefined;
  /** The kind whose records its values name. */
  readonly refersTo?: string | undefined;
  /** How "no record" is written in a reference; null where each value names a record. */
  readonly none?: string | null;
}

/**
 * Creates views. An existing view keeps its columns in their order and gets new ones at its end, so that analysts' objects that
 * depend on it keep working.
 */
export async function createViews(tx: Transaction, views: readonly View[]): Promise<void> {
  const isPostgres = tx.dialect === 'postgres';
  for (const view of views) {
    const select = selectText(view, await presentColumns(tx, view.name));
    if (isPostgres) await tx.execute(`create or replace view ${qualifiedName(view.name)} as ${select}`);
    else {
      await tx.execute(`drop view if exists ${identifier(view.name)}`); // SQLite resolves a view only when it is read.
      await tx.execute(`create view ${identifier(view.name)} as ${select}`);
    }
  }
  if (!isPostgres) return;
  const names = views.map((view) => view.name);
  await refuseWrites(tx, names);
  await grantToReader(tx, names);
}

/** The columns that a view has in its order, each with the null of its type. */
async function presentColumns(tx: Transaction, view: string): Promise<ReadonlyMap<string, string>> {
  if (tx.dialect === 'sqlite')
    return new Map([...(await tx.listColumns(view))].map((name) => [name, 'null']));
  const attributes = sql`
    select attname as name, 'null::' || format_type(atttypid, atttypmod) as nothing from pg_attribute
    where attrelid = to_regclass(${qualifiedName(view)}) and attnum > 0 order by attnum`;
  const rows = await readRows(tx, { name: String, nothing: String }, attributes);
  return new Map(rows.map((row) => [row.name, row.nothing]));
}

/** The `select` of a view: its existing columns in their order, null where their field is gone, then new ones. */
export function selectText(view: View, present: ReadonlyMap<string, string>): string {
  const expressions = new Map([
    ...present,
    ...view.columns.map((column) => [column.name, column.expression] as const),
  ]);
  const list = [...expressions].map(([name, expression]) => {
    const column = identifier(name);
    return expression === column ? column : `${expression} as ${column}`;
  });
  return `select ${list.join(', ')} ${view.from}`;
}

const EACH_ROW = 'bms_sync_refuses_rows';
const STATEMENT = 'bms_sync_refuses';

/**
 * Makes views refuse writes, their owner's and a superuser's too; PostgreSQL would pass them on to the tables. The row trigger
 * keeps PostgreSQL from passing writes on; the statement trigger refuses writes that match no row. Neither affects reads.
 */
async function refuseWrites(tx: Transaction, views: readonly string[]): Promise<void> {
  if (views.length === 0) return;
  const guarded = sql`
    select relname from pg_trigger join pg_class c on c.oid = tgrelid
    where tgname = ${EACH_ROW} and relnamespace = 'public'::regnamespace and relname in (${sqlList(views)})`;
  const done = new Set(await readTexts(tx, guarded));
  const statements = views
    .filter((view) => !done.has(view))
    .map(
      (view) => `
      create trigger ${EACH_ROW} instead of insert or update or delete on ${qualifiedName(view)}
        for each row execute function ${REFUSE_FUNCTION}();
      create trigger ${STATEMENT} before insert or update or delete on ${qualifiedName(view)}
        for each statement execute function ${REFUSE_FUNCTION}()`,
    );
  if (statements.length > 0) await tx.execute(statements.join(';'));
}

/**
 * Replaces the rows of these views in `bi_dictionary` and `bi_relations`, and writes PostgreSQL's comments in
 * the language of the setting.
 * @param extent `all`: the rows of all other views are removed.
 */
export async function writeDictionary(tx: Transaction, views: readonly View[], extent: 'all' | 'these') {
  const described = views.filter((view) => view.isInner !== true);
  const names = sqlList(described.map((view) => view.name));
  for (const table of [DICTIONARY, RELATIONS])
    await tx.query(sql`delete from ${table}${extent === 'all' ? sql`` : sql` where view in (${names})`}`);
  const columns = described.flatMap((view) => view.columns.map((column) => ({ view: view.name, ...column })));
  const places = new Map<string, readonly string[]>();
  for (const { name } of described) places.set(name, [...(await presentColumns(tx, name)).keys()]);
  const entries = columns.map(({ view, name: column, type, description, section = null }) => {
    const { en: labelEn, fr: labelFr, unit } = description;
    const { en: meaning, fr: meaningFr } = description.meaning;
    const ordinal = (places.get(view)?.indexOf(column) ?? -1) + 1;
    return { view, column, type, unit, meaning, section, labelEn, labelFr, ordinal, meaningFr };
  });
  await insertRows(tx, DICTIONARY, entries);
  const relations = columns.flatMap(({ view, name: column, refersTo, none = null }) =>
    refersTo === undefined ? [] : [{ view, column, toView: `bi_${refersTo}`, toColumn: 'id', none }],
  );
  await insertRows(tx, RELATIONS, relations);
  if (tx.dialect === 'sqlite') return;
  const language = (await readMeta(tx, 'language')) === 'fr' ? 'fr' : 'en';
  await tx.execute(views.flatMap((view) => commentsOn(view, language)).join(';\n'));
}

function commentsOn({ name, meaning, columns }: View, language: Language): string[] {
  const { t, term } = translatorFor(language);
  const view = qualifiedName(name);
  return [
    `comment on view ${view} is ${literal(meaning[language])}`,
    ...columns.map(({ name: column, description }) => {
      const text = description.meaning[language];
      const unit = description.unit === null ? null : term(description.unit);
      const comment = unit === null ? text : t('{text} Unit: {unit}.', { text, unit });
      return `comment on column ${view}.${identifier(column)} is ${literal(comment)}`;
    }),
  ];
}

/**
 * Replaces our views after the tables have changed. A view keeps its columns, null where their field is gone, and gets new ones
 * at its end, so that users' own views keep working; PostgreSQL creates a view again if a column changes its type.
 */
export async function replaceViews(tx: Transaction, views: readonly View[]): Promise<void> {
  const rights: string[] = [];
  if (tx.dialect === 'postgres') {
    await tx.execute(CREATE_REFUSE_FUNCTION); // Before the first view.
    for (const view of views) {
      if (await hasSameColumnTypes(tx, view)) continue;
      rights.push(...(await rightsOn(tx, qualifiedName(view.name))));
      await tx.execute(`drop view ${qualifiedName(view.name)}`);
    }
  }
  await createViews(tx, views);
  for (const right of rights) await tx.execute(right);
}

/** Reads the statements that give a view of PostgreSQL its rights and its owner once it is created again. */
const rightsOn = (tx: Transaction, view: string): Promise<readonly string[]> =>
  readTexts(
    tx,
    sql`with present as (select * from pg_class where oid = to_regclass(${view}))
      select format('grant %s on %s to %s%s', privilege_type, ${view}::text,
        case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
        case when is_grantable then ' with grant option' end) from present, aclexplode(relacl) where grantee <> relowner
      union all select format('alter view %s owner to %I', ${view}::text, pg_get_userbyid(relowner)) from present
        where relowner <> current_user::regrole`,
  );

/** Whether all columns of a view in PostgreSQL keep their types; true if there is no view yet. */
async function hasSameColumnTypes(tx: Transaction, view: View): Promise<boolean> {
  const present = await presentColumns(tx, view.name);
  if (present.size === 0) return true;
  const draft = `${TABLES_SCHEMA}.${identifier(view.name)}`;
  await tx.execute(`create view ${draft} as ${selectText(view, present)}`);
  const changed = sql`
    select 1 from pg_attribute old
    where attrelid = to_regclass(${qualifiedName(view.name)}) and attnum > 0 and not exists (
      select from pg_attribute new where new.attrelid = to_regclass(${draft}) and new.attnum = old.attnum
        and new.attname = old.attname and new.atttypid = old.atttypid
        and new.atttypmod = old.atttypmod and new.attcollation = old.attcollation)`;
  const isChanged = await hasRow(tx, changed);
  await tx.execute(`drop view ${draft}`);
  return !isChanged;
}

/**
 * Changes tables. SQLite would refuse it where views read a dropped column, although our views are created again, and it resolves
 * any other view only when that is read.
 */
export async function withoutViewChecks(tx: Transaction, change: () => Promise<void>): Promise<void> {
  if (tx.dialect === 'postgres') {
    await change();
    return;
  }
  await tx.execute('pragma legacy_alter_table = on');
  try {
    await change();
  } finally {
    await tx.execute('pragma legacy_alter_table = off');
  }
}

/** PostgreSQL's error codes for a change or drop of an object that others depend on. */
const NEEDED: readonly string[] = ['0A000', '2BP01'];

/**
 * Runs a migration and reports the object that blocks it in PostgreSQL.
 * @throws {MirrorError} `mirror.blocked_by_view` if an object of a user's own depends on what changes.
 */
export async function translateViewErrors<T>(location: string, migration: () => Promise<T>): Promise<T> {
  try {
    return await migration();
  } catch (error) {
    if (!(error instanceof Error) || !NEEDED.includes(errorCode(error))) throw error;
    const detail = 'detail' in error && typeof error.detail === 'string' ? error.detail : error.message;
    throw new MirrorError(
      `${location} cannot be migrated: your own objects depend on columns that change: ${detail.replaceAll('\n', '; ')}.`,
      {
        code: 'mirror.blocked_by_view',
        hint: 'Nothing was changed. Save their SQL, drop them, run bms-sync migrate, then create them again.',
        cause: error,
      },
    );
  }
}
