import { sql } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import { ownValue } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import type { Retyped } from './change-types.ts';
import { placeOf } from '../postgres/schemas.ts';
import { kindColumns } from '../tables/kind-table.ts';
import type { Dialect } from '../tables/kind-table.ts';
import type { Queryable, Row, Transaction } from '../session/session.ts';

/** What an upgrade changes in the types of one kind's columns. */
export interface Retyping {
  readonly kind: Kind;
  /** Discovered fields whose column would be another one if they were discovered today. */
  readonly fields: readonly Field[];
  readonly columns: readonly Retyped[];
}

/**
 * Finds the columns of a mirror that an older release made which have other types now: a reference that is a text becomes an
 * id, and a discovered integer of which some record shows a text becomes a text. Nothing is changed.
 *
 * Reads the engine's tables as the older release left them.
 */
export async function planRetyping(
  tx: Transaction,
  kinds: readonly Kind[],
  dialect: Dialect,
): Promise<readonly Retyping[]> {
  const plans: Retyping[] = [];
  for (const kind of kinds) {
    if ((await tx.columnsOf(kind.name)).size === 0) continue;
    const known = await tx.query(sql`
      select field, column_type, wire from fields
      where kind = ${kind.name} and column_type is not null and column_type <> 'unusable'`);
    const fields = await discoveredAnew(tx, kind, known);
    const columns = await outdated(tx, withColumns(kind, known, fields), dialect);
    if (fields.length > 0 || columns.length > 0) plans.push({ kind, fields, columns });
  }
  return plans;
}

async function discoveredAnew(db: Queryable, kind: Kind, known: readonly Row[]): Promise<readonly Field[]> {
  const suspects: string[] = [];
  const references: Field[] = [];
  for (const row of known) {
    const name = String(row['field']);
    const declared = [...kind.fields, ...kind.hints].find((field) => field.name === name);
    const isReference = row['column_type'] === 'text' && declared?.refersTo !== undefined;
    if (isReference) references.push(declared);
    const isHinted = declared !== undefined && columnType(declared) === 'integer';
    const isInteger = row['column_type'] === 'integer' && !isHinted;
    if (isInteger && String(row['wire']).includes('text')) suspects.push(name);
  }
  const texts = await sentAsText(db, kind.name, suspects);
  return [...references, ...[...texts].map((name): Field => ({ name, type: 'text' }))];
}

const ROWS_AT_ONCE = 1_000;

/** Which of these fields some row's record has as a text. */
async function sentAsText(
  db: Queryable,
  kind: string,
  fields: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let after: string | null = '0'; after !== null && found.size < fields.length;) {
    const from: string = after;
    const rows = await db.query(sql`
      select cast(id as text) as id, _raw from ${sql.identifier(kind)} as k
      where k.id > ${from} order by k.id limit ${ROWS_AT_ONCE}`);
    for (const row of rows) {
      const record = parseObject(String(row['_raw']));
      for (const name of fields.filter((field) => isText(ownValue(record, field)))) found.add(name);
    }
    after = rows.length < ROWS_AT_ONCE ? null : String(rows.at(-1)?.['id']);
  }
  return found;
}

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';

/** The kind with its discovered fields; one that was discovered before it was documented keeps the type of its column. */
function withColumns(kind: Kind, known: readonly Row[], anew: readonly Field[]): Kind {
  const fields = new Map(kind.fields.map((field) => [field.name, field]));
  for (const row of known) {
    const name = String(row['field']);
    fields.set(name, { name, type: String(row['column_type']) as FieldType });
  }
  for (const field of anew) fields.set(field.name, field);
  return { ...kind, fields: [...fields.values()] };
}

/** The types of an older release and of this one, and how a value gets from one to the other. */
const CHANGES: ReadonlyMap<string, Retyped['to']> = new Map([
  ['text bigint', 'integer'],
  ['bigint text', 'text'],
  ['time text', 'text'],
  ['real generated real', 'as it was'],
  ['bigint generated bigint', 'as it was'],
]);

async function outdated(db: Queryable, kind: Kind, dialect: Dialect): Promise<readonly Retyped[]> {
  const present = await typesOf(db, kind.name, dialect);
  return kindColumns(kind, dialect).flatMap(({ name, type }): Retyped[] => {
    const change = `${present.get(name) ?? ''} ${type}`.toLowerCase();
    const to = CHANGES.get(change);
    return to === undefined ? [] : [{ name, type, to }];
  });
}

async function typesOf(db: Queryable, table: string, dialect: Dialect): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query(
    dialect === 'sqlite'
      ? sql`
        select name, type || case when hidden > 1 then ' generated' else '' end as type
        from pragma_table_xinfo(${table})`
      : sql`
        select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = to_regclass(${placeOf(table)}) and attnum > 0 and not attisdropped`,
  );
  return new Map(rows.map((row) => [String(row['name']), String(row['type'])]));
}
