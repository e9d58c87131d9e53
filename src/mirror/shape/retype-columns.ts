import { sql } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { ownValue } from '../../diff/decode-record.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseObject } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { changeTypes } from './change-types.ts';
import type { Retyped } from './change-types.ts';
import { asMirrored, saveColumn } from '../kinds/field-store.ts';
import { growKindTable } from './grow-kind-tables.ts';
import { identifier } from '../session/identifier.ts';
import { kindColumns } from '../tables/kind-table.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { redecodeWhere } from './redecode.ts';
import type { Transaction } from '../session/session.ts';
import { addTextColumns } from './text-columns.ts';

const ROWS_AT_ONCE = 1_000;

/**
 * Changes the columns of an older release's mirror to their present types and refills them from `_raw`: a reference stored as
 * text becomes an id, and a discovered integer with a text in some record becomes a text.
 *
 * Rows keep their instants, and no change event is written. Our views must be removed before.
 */
export async function retypeColumns(tx: Transaction, kind: Kind, dialect: Dialect): Promise<void> {
  if ((await tx.columnsOf(kind.name)).size === 0) return;
  for (const field of await discoveredAnew(tx, kind)) await saveRetyped(tx, kind.name, field);
  const mirrored = await asMirrored(tx, kind);
  const retyped = await outdated(tx, mirrored, dialect);
  if (retyped.length === 0) return;
  await changeTypes(tx, { table: kind.name, dialect, columns: retyped });
  await fillLost(tx, mirrored, { retyped, dialect });
}

/** Discovered fields that would get a different column if they were discovered today. */
async function discoveredAnew(tx: Transaction, kind: Kind): Promise<readonly Field[]> {
  const rows = await tx.query(sql`
    select field, column_type, wire from fields where kind = ${kind.name} and column_type in ('integer', 'text')`);
  const suspects: string[] = [];
  const references: Field[] = [];
  for (const row of rows) {
    const name = String(row['field']);
    const known = [...kind.fields, ...kind.hints].find((field) => field.name === name);
    const hasText = row['column_type'] === 'text';
    if (hasText && known?.refersTo !== undefined) references.push(known);
    const isHinted = known !== undefined && columnType(known) === 'integer';
    if (!hasText && !isHinted && String(row['wire']).includes('text')) suspects.push(name);
  }
  const texts = await sentAsText(tx, kind.name, suspects);
  return [...references, ...[...texts].map((name): Field => ({ name, type: 'text' }))];
}

async function saveRetyped(tx: Transaction, kind: string, field: Field): Promise<void> {
  await saveColumn(tx, kind, field);
  await tx.query(sql`update fields set type = ${field.type} where kind = ${kind} and field = ${field.name}`);
}

/** Those of these fields that are a text in some row's record. */
async function sentAsText(
  tx: Transaction,
  kind: string,
  fields: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let after: string | null = '0'; after !== null && found.size < fields.length;) {
    const from: string = after;
    const rows = await tx.query(sql`
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

/** The columns that still have an older release's type. */
async function outdated(tx: Transaction, kind: Kind, dialect: Dialect): Promise<readonly Retyped[]> {
  const present = await typesOf(tx, kind.name, dialect);
  return kindColumns(kind, dialect).flatMap(({ name, type }): Retyped[] => {
    const change = `${present.get(name) ?? ''} ${type}`.toLowerCase();
    if (change === 'text bigint') return [{ name, type, to: 'integer' }];
    return change === 'bigint text' ? [{ name, type, to: 'text' }] : [];
  });
}

async function typesOf(
  tx: Transaction,
  table: string,
  dialect: Dialect,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query(
    dialect === 'sqlite'
      ? sql`select name, type from pragma_table_xinfo(${table})`
      : sql`
        select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = to_regclass(${identifier(table)}) and attnum > 0 and not attisdropped`,
  );
  return new Map(rows.map((row) => [String(row['name']), String(row['type'])]));
}

/** Decodes the rows whose retyped column is empty: a value that did not fit before may fit now, and the reverse. */
async function fillLost(
  tx: Transaction,
  kind: Kind,
  { retyped, dialect }: { readonly retyped: readonly Retyped[]; readonly dialect: Dialect },
): Promise<void> {
  const now = systemClock.now();
  const where = sql`(${sql.join(
    retyped.map(({ name }) => sql`${sql.identifier(name)} is null`),
    sql` or `,
  )})`;
  await growKindTable(tx, kind, dialect);
  await redecodeWhere(tx, kind, { where, now });
  const grown = await addTextColumns(tx, kind, now); // For the issues that were just opened.
  if (grown.fields.length === kind.fields.length) return;
  await growKindTable(tx, grown, dialect);
  await redecodeWhere(tx, grown, { where, now });
}
