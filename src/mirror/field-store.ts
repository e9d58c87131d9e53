import { sql } from 'drizzle-orm';
import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import type { SeenType } from '../diff/field-type.ts';
import type { SeenField } from '../diff/observe-fields.ts';
import { instantText } from '../lib/clock.ts';
import type { Queryable, Row, Transaction } from './session.ts';

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
  for (const [field, { type, fitsHint, wire }] of fields) {
    const isDocumented = documented.some((known) => known.name === field) ? 1 : 0;
    await tx.query(sql`
      insert into fields (kind, field, documented, type, fits_hint, wire, position, first_seen_at)
      values (${name}, ${field}, ${isDocumented}, ${type}, ${fitsHint ? 1 : 0}, ${wire},
        (select coalesce(max(position), 0) + 1 from fields where kind = ${name}), ${instantText(now)})
      on conflict (kind, field) do update set
        type = excluded.type, fits_hint = excluded.fits_hint, wire = excluded.wire`);
  }
}

/** Records that a field has its column from now on, or can have none. */
export async function saveColumn(
  tx: Transaction,
  kind: string,
  { name, type, scale }: Omit<Field, 'type'> & { readonly type: FieldType | 'unusable' },
): Promise<void> {
  await tx.query(sql`
    update fields set column_type = ${type}, column_scale = ${scale ?? null} where kind = ${kind} and field = ${name}`);
}

/** Records since when a field is no longer sent; null where it is sent again. */
export async function saveVanished(
  tx: Transaction,
  kind: string,
  { field, since }: { field: string; since: Date | null },
): Promise<void> {
  const at = since === null ? null : instantText(since);
  await tx.query(sql`update fields set vanished_at = ${at} where kind = ${kind} and field = ${field}`);
}
