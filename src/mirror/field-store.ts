import { sql } from 'drizzle-orm';
import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import type { SeenType } from '../diff/field-type.ts';
import type { SeenField } from '../diff/observe-fields.ts';
import { instantText } from '../lib/clock.ts';
import type { Queryable, Row, Transaction } from './session.ts';
import { sqlList } from './sql-list.ts';

/** What is known of a field that the service sends. */
export interface KnownField extends SeenField {
  /** Since when no record has it; null while some have. */
  readonly vanishedAt: string | null;
}

/** All fields of a kind that the service has ever sent, in order of first sight. */
export async function readFields(db: Queryable, kind: string): Promise<Map<string, KnownField>> {
  const rows = await db.query(sql`
    select field, type, fits_hint, wire, vanished_at from fields where kind = ${kind} order by position`);
  return new Map(
    rows.map((row) => [
      String(row['field']),
      {
        ...seenField(row),
        vanishedAt: row['vanished_at'] === null ? null : String(row['vanished_at']),
      },
    ]),
  );
}

/**
 * A kind as the mirror holds it: the documented fields, then the discovered ones in order of first sight.
 *
 * A field that was discovered before it was documented keeps the type of its column.
 */
export async function asMirrored<K extends Kind>(db: Queryable, kind: K): Promise<K> {
  const rows = await db.query(sql`
    select field, column_type, column_scale from fields
    where kind = ${kind.name} and column_type is not null and column_type <> 'unusable' order by position`);
  const columns = new Map(rows.map((row) => [String(row['field']), columnOf(kind, row)]));
  const documented = kind.fields.map((field) => ({ ...field, ...columns.get(field.name) }));
  for (const { name } of documented) columns.delete(name);
  return { ...kind, fields: [...documented, ...columns.values()] };
}

/** Fields that have no column yet, and what they have shown; in order of first sight. */
export async function readUndiscovered(db: Queryable, kind: Kind): Promise<(readonly [string, SeenField])[]> {
  const rows = await db.query(sql`
    select field, type, fits_hint, wire from fields
    where kind = ${kind.name} and column_type is null order by position`);
  const columns = new Set(kind.fields.map(({ name }) => name));
  return rows
    .map((row) => [String(row['field']), seenField(row)] as const)
    .filter(([name]) => !columns.has(name));
}

function seenField(row: Row): SeenField {
  return {
    type: String(row['type']) as SeenType,
    fitsHint: row['fits_hint'] === 1,
    wire: String(row['wire']),
  };
}

function columnOf({ hints }: Kind, row: Row): Field {
  const [name, type] = [String(row['field']), String(row['column_type']) as FieldType];
  const items = hints.find((hint) => hint.name === name && hint.type === type)?.items;
  const scale = row['column_scale'] === null ? {} : { scale: Number(row['column_scale']) };
  return { name, type, ...scale, ...(items && { items }) };
}

export interface SeenFields {
  readonly fields: ReadonlyMap<string, SeenField>;
  readonly now: Date;
}

/** Records fields seen for the first time, or with a wider type than before. */
export async function saveFields(
  tx: Transaction,
  { name, fields: documented }: Kind,
  { fields, now }: SeenFields,
): Promise<void> {
  if (fields.size === 0) return;
  const names = new Set(documented.map((known) => known.name));
  const [last] = await tx.query(sql`select max(position) as position from fields where kind = ${name}`);
  const after = Number(last?.['position'] ?? 0) + 1;
  const rows = [...fields].map(([field, { type, fitsHint, wire }], index) => {
    const isDocumented = names.has(field) ? 1 : 0;
    return sql`(${name}, ${field}, ${isDocumented}, ${type}, ${fitsHint ? 1 : 0}, ${wire}, ${after + index},
      ${instantText(now)})`;
  });
  for (const some of inChunks(rows)) {
    await tx.query(sql`
      insert into fields (kind, field, documented, type, fits_hint, wire, position, first_seen_at)
      values ${sql.join(some, sql`, `)}
      on conflict (kind, field) do update set
        type = excluded.type, fits_hint = excluded.fits_hint, wire = excluded.wire`);
  }
}

const CHUNK = 100;

function inChunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, index) =>
    all.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}

/** Records that a field has its column from now on. */
export async function saveColumn(tx: Transaction, kind: string, { name, type, scale }: Field): Promise<void> {
  await tx.query(sql`
    update fields set column_type = ${type}, column_scale = ${scale ?? null} where kind = ${kind} and field = ${name}`);
}

/** Records that fields can have no column. */
export async function saveUnusable(tx: Transaction, kind: string, fields: readonly string[]): Promise<void> {
  for (const some of inChunks(fields))
    await tx.query(
      sql`update fields set column_type = 'unusable' where kind = ${kind} and field in (${sqlList(some)})`,
    );
}

/** Records since when fields are no longer sent; null where they are sent again. */
export async function saveVanished(
  tx: Transaction,
  kind: string,
  { fields, since }: { readonly fields: readonly string[]; readonly since: Date | null },
): Promise<void> {
  const at = since === null ? null : instantText(since);
  for (const some of inChunks(fields))
    await tx.query(
      sql`update fields set vanished_at = ${at} where kind = ${kind} and field in (${sqlList(some)})`,
    );
}
