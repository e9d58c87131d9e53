import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import { ownValue } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { batchesById } from '../records/record-store.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { placeOf } from '../../db/session/sql-text.ts';
import { text } from '../../db/rows/engine-column.ts';
import { kindColumns } from '../tables/kind-table.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { readRows } from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';

export interface Retyped {
  readonly name: string;
  /** The declared type that the column is to have. */
  readonly type: string;
  /** `as it was`: a column that an older release had SQLite compute becomes a column that landing writes. */
  readonly to: 'integer' | 'text' | 'as it was';
}

/** The changes that an upgrade makes to the column types of one kind. */
export interface Retyping {
  readonly kind: Kind;
  /** Discovered fields that would get another column type if they were discovered today. */
  readonly fields: readonly Field[];
  readonly columns: readonly Retyped[];
}

const DISCOVERED = [text('name'), text<'type', FieldType>('type'), text('wire')];
type Discovered = RowOf<typeof DISCOVERED>;

const RAW_ROW = [text('id'), text('raw')];

/**
 * Finds the columns of an older release's mirror whose types have changed since: a reference stored as text becomes an
 * id, and a discovered integer becomes a text if some record shows a text there. Changes nothing.
 */
export async function planRetyping(
  tx: Transaction,
  kinds: readonly Kind[],
  dialect: Dialect,
): Promise<readonly Retyping[]> {
  const plans: Retyping[] = [];
  for (const kind of kinds) {
    if ((await tx.columnsOf(kind.name)).size === 0) continue;
    const fields = sql`
      select field as name, column_type as type, wire from fields
      where kind = ${kind.name} and column_type is not null and column_type <> 'unusable'`;
    const known = await readRows(tx, DISCOVERED, fields);
    const changed = await discoveredAnew(tx, kind, known);
    const columns = await outdated(tx, withColumns(kind, known, changed), dialect);
    if (changed.length > 0 || columns.length > 0) plans.push({ kind, fields: changed, columns });
  }
  return plans;
}

async function discoveredAnew(
  db: Queryable,
  kind: Kind,
  known: readonly Discovered[],
): Promise<readonly Field[]> {
  const suspects: string[] = [];
  const references: Field[] = [];
  for (const { name, type, wire } of known) {
    const declared = [...kind.fields, ...kind.hints].find((field) => field.name === name);
    const isReference = type === 'text' && declared?.refersTo !== undefined;
    if (isReference) references.push(declared);
    const isHinted = declared !== undefined && columnType(declared) === 'integer';
    const isInteger = type === 'integer' && !isHinted;
    if (isInteger && wire.includes('text')) suspects.push(name);
  }
  const texts = await sentAsText(db, kind.name, suspects);
  return [...references, ...[...texts].map((name): Field => ({ name, type: 'text' }))];
}

const ROWS_AT_ONCE = 1_000;

/** The fields among these that are a text in some row's record. */
async function sentAsText(
  db: Queryable,
  kind: string,
  fields: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (fields.length === 0) return found;
  const next = (after: string): SQL => sql`
    select cast(id as text) as id, _raw as raw from ${sql.identifier(kind)} as k
    where k.id > ${after} order by k.id limit ${ROWS_AT_ONCE}`;
  for await (const rows of batchesById(ROWS_AT_ONCE, (after) => readRows(db, RAW_ROW, next(after)))) {
    for (const { raw } of rows) {
      const record = parseObject(raw);
      for (const name of fields.filter((field) => isText(ownValue(record, field)))) found.add(name);
    }
    if (found.size === fields.length) break;
  }
  return found;
}

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';

/** The kind with its discovered fields; one that was discovered before it was documented keeps the type of its column. */
function withColumns(kind: Kind, known: readonly Discovered[], changed: readonly Field[]): Kind {
  const fields = new Map(kind.fields.map((field) => [field.name, field]));
  for (const { name, type } of known) fields.set(name, { name, type });
  for (const field of changed) fields.set(field.name, field);
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
  const types =
    dialect === 'sqlite'
      ? sql`
        select name, type || case when hidden > 1 then ' generated' else '' end as type
        from pragma_table_xinfo(${table})`
      : sql`
        select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = to_regclass(${placeOf(table)}) and attnum > 0 and not attisdropped`;
  const columns = await readRows(db, [text('name'), text('type')], types);
  return new Map(columns.map(({ name, type }) => [name, type]));
}
