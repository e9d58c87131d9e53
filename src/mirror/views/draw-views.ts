import { sql } from 'drizzle-orm';
import type { FieldType } from '../../catalog/kind.ts';
import type { FieldWords } from '../../catalog/words.ts';
import type { Transaction } from '../session/session.ts';
import { identifier, sqlList, TABLES_SCHEMA, placeOf } from '../session/sql-text.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { readTexts } from '../tables/rows.ts';
import { grantToReader } from './reader-role.ts';

/** A database view, as the mirror declares it. */
export interface View {
  readonly name: string;
  readonly meaning: string;
  readonly columns: readonly ViewColumn[];
  /** The rest of the `select` after the columns: `from …`. */
  readonly from: string;
  /** Set for a view that only another view reads: the dictionary leaves it out. */
  readonly isInner?: true;
}

/** One column of a view, with what the dictionary says of it. */
export interface ViewColumn {
  readonly name: string;
  readonly expression: string;
  /** The type that the dictionary tells; `flag` is 0 or 1. */
  readonly type: FieldType;
  readonly words: FieldWords;
  /** The section of the service's documentation that shows the field. */
  readonly section?: string | undefined;
  /** The kind whose records its values name. */
  readonly refersTo?: string | undefined;
  /** How "no record" is written in a reference; null where each value names a record. */
  readonly none?: string | null;
}

/**
 * Creates views. An existing view keeps its columns in their order and gets new ones at its end, so that analysts' objects
 * that depend on it keep working.
 */
export async function drawViews(tx: Transaction, views: readonly View[], dialect: Dialect): Promise<void> {
  for (const view of views) {
    const select = selectOf(view, [...(await tx.columnsOf(view.name))]);
    if (dialect === 'postgres') await tx.execute(`create or replace view ${placeOf(view.name)} as ${select}`);
    else {
      await tx.execute(`drop view if exists ${identifier(view.name)}`); // SQLite resolves a view only when it is read.
      await tx.execute(`create view ${identifier(view.name)} as ${select}`);
    }
  }
  if (dialect === 'postgres') await openToReaders(tx, views);
}

/** Grants PostgreSQL's reader role the right to read the views, and makes the views refuse all writes. */
export async function openToReaders(tx: Transaction, views: readonly View[]): Promise<void> {
  const names = views.map(({ name }) => name);
  await refuseWrites(tx, names);
  await grantToReader(tx, names);
}

/** The `select` of a view: its existing columns in their order, then new ones. */
export function selectOf({ columns, from }: View, present: readonly string[]): string {
  const place = ({ name }: ViewColumn): number => (present.includes(name) ? present.indexOf(name) : Infinity);
  const ordered = columns
    .map((column, index) => ({ column, index }))
    .sort((a, b) => byPlace(place(a.column), place(b.column)) || a.index - b.index);
  const list = ordered.map(({ column: { name, expression } }) => {
    return expression === identifier(name) ? expression : `${expression} as ${identifier(name)}`;
  });
  return `select ${list.join(', ')} ${from}`;
}

const byPlace = (a: number, b: number): number => (a === b ? 0 : a - b);

const FUNCTION = `${TABLES_SCHEMA}.refuse_write`;
const EACH_ROW = 'bms_sync_refuses_rows';
const STATEMENT = 'bms_sync_refuses';

/** Raises the error code that PostgreSQL itself uses for a view that cannot be written. */
const DRAW_FUNCTION = `
create or replace function ${FUNCTION}() returns trigger language plpgsql as $$
begin
  raise exception using
    errcode = 'object_not_in_prerequisite_state',
    message = format('The view %I.%I only shows what the service holds: it takes no %s.',
      tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'Change the record at the service, by bms-sync push or a row in ${TABLES_SCHEMA}.outbox; the next pull shows it here.';
end $$`;

/** Creates the trigger function that refuses writes through views; runs before the first view is created. */
export async function drawRefusal(tx: Transaction): Promise<void> {
  await tx.execute(DRAW_FUNCTION);
}

/**
 * Makes views refuse writes, their owner's and a superuser's too; PostgreSQL would pass them on to the tables.
 *
 * The row trigger keeps PostgreSQL from passing writes on; the statement trigger refuses writes that match no row. Neither
 * affects reads.
 */
async function refuseWrites(tx: Transaction, views: readonly string[]): Promise<void> {
  if (views.length === 0) return;
  const guarded = sql`
    select relname from pg_trigger join pg_class c on c.oid = tgrelid
    where tgname = ${EACH_ROW} and relnamespace = 'public'::regnamespace and relname in (${sqlList(views)})`;
  const done = new Set(await readTexts(tx, guarded));
  const statements = views.filter((view) => !done.has(view)).map((view) => drawTriggers(placeOf(view)));
  if (statements.length > 0) await tx.execute(statements.join(';\n'));
}

const drawTriggers = (place: string): string => `
  create trigger ${EACH_ROW} instead of insert or update or delete on ${place}
    for each row execute function ${FUNCTION}();
  create trigger ${STATEMENT} before insert or update or delete on ${place}
    for each statement execute function ${FUNCTION}()`;
