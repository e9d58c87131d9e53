import { sql } from 'drizzle-orm';
import { VIEWS_SCHEMA, isViewName, placeOf } from '../postgres/schemas.ts';
import type { Queryable, Session } from '../session/session.ts';
import { text } from '../tables/engine-column.ts';
import { readRows, readTexts } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** Reads an open database whose kind is known. */
export interface DialectReader extends Queryable {
  readonly dialect: Session['dialect'];
}

const DECLARED = [text('name'), text('type')];

/** A column of a view, with its declared type in lower case; SQLite knows no type of an expression (`''`). */
export type DeclaredColumn = RowOf<typeof DECLARED>;

/** The columns of an analysts' view in their order; empty if there is no such view. */
export async function readDeclaredColumns(db: DialectReader, view: string): Promise<DeclaredColumn[]> {
  if (!isViewName(view)) return [];
  const columns =
    db.dialect === 'sqlite'
      ? sql`select name, lower(type) as type from pragma_table_xinfo(${view}) order by cid`
      : sql`
        select attname as name, format_type(atttypid, null) as type from pg_attribute
        where attrelid = to_regclass(${placeOf(view)}) and attnum > 0 and not attisdropped order by attnum`;
  return readRows(db, DECLARED, columns);
}

/** The names of all analysts' views, by name; SQLite keeps some as tables. */
export async function readViewNames(db: DialectReader): Promise<string[]> {
  const names =
    db.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type in ('view', 'table') order by name`
      : sql`
        select relname as name from pg_class
        where relkind in ('v', 'm', 'r') and relnamespace = ${VIEWS_SCHEMA}::regnamespace order by relname`;
  return (await readTexts(db, names)).filter(isViewName);
}
