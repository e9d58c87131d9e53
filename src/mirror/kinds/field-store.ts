import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import type { SeenType, SeenField } from '../../diff/observe-fields.ts';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Row, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** A field that the service sends, as the mirror knows it. */
export interface KnownField extends SeenField {
  /** The instant since which no record has the field; null while some records have it. */
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
 * A kind as the mirror holds it: the documented fields, then the discovered ones in order of first sight, each column of
 * texts that did not fit where it was added.
 *
 * A field that was discovered before it was documented keeps the type of its column.
 */
export async function asMirrored<K extends Kind>(db: Queryable, kind: K): Promise<K> {
  const rows = await db.query(sql`
    select field, column_type, column_scale, position, text_column, text_position from fields
    where kind = ${kind.name} and (column_type <> 'unusable' or text_column is not null)`);
  const added = rows
    .flatMap((row) => [...discoveredField(kind, row), ...textField(row)])
    .sort((a, b) => a.position - b.position);
  const columns = new Map(added.map(({ field }) => [field.name, field]));
  const documented = kind.fields.map((field): Field => {
    const column = columns.get(field.name);
    return column?.textOf === undefined ? { ...field, ...column } : { ...field, type: column.type };
  });
  for (const { name } of documented) columns.delete(name);
  return { ...kind, fields: [...documented, ...columns.values()] };
}

/** Fields that have no column yet, with the types that they have shown; in order of first sight. */
export async function readUndiscovered(db: Queryable, kind: Kind): Promise<(readonly [string, SeenField])[]> {
  const rows = await db.query(sql`
    select field, type, fits_hint, wire from fields
    where kind = ${kind.name} and column_type is null order by position`);
  const sent = new Set(kind.fields.filter(({ textOf }) => textOf === undefined).map(({ name }) => name));
  return rows
    .map((row) => [String(row['field']), seenField(row)] as const)
    .filter(([name]) => !sent.has(name));
}

function seenField(row: Row): SeenField {
  return {
    type: String(row['type']) as SeenType,
    fitsHint: row['fits_hint'] === 1,
    wire: String(row['wire']),
  };
}

interface AddedField {
  readonly position: number;
  readonly field: Field;
}

/** A discovered field. If its column has the hint's type, the hint's other properties apply too. */
function discoveredField({ hints }: Kind, row: Row): AddedField[] {
  if (row['column_type'] === null || row['column_type'] === 'unusable') return [];
  const [name, type] = [String(row['field']), String(row['column_type']) as FieldType];
  const hint = hints.find((candidate) => candidate.name === name && columnType(candidate) === type);
  const scale = row['column_scale'] === null ? {} : { scale: Number(row['column_scale']) };
  const field: Field = {
    ...{ name, type: hint?.type ?? type, ...scale },
    ...(hint?.items && { items: hint.items }),
    ...(hint?.refersTo !== undefined && { refersTo: hint.refersTo }),
  };
  return [{ position: Number(row['position']), field }];
}

function textField(row: Row): AddedField[] {
  if (row['text_column'] === null) return [];
  const field: Field = { name: String(row['text_column']), type: 'text', textOf: String(row['field']) };
  return [{ position: Number(row['text_position']), field }];
}

interface SeenFields {
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
  const [next] = await tx.query(sql`select ${nextPosition(name)} as position`);
  const after = Number(next?.['position']);
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

/** The next place in the order of a kind's columns. */
const nextPosition = (kind: string): SQL => sql`(
  select coalesce(max(case when text_position > position then text_position else position end), 0) + 1
  from fields where kind = ${kind})`;

const CHUNK = 100;

function inChunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, index) =>
    all.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}

/** Records that a field now has its column. */
export async function saveColumn(tx: Transaction, kind: string, field: Field): Promise<void> {
  const { name, scale } = field;
  const type = columnType(field);
  await tx.query(sql`
    update fields set column_type = ${type}, column_scale = ${scale ?? null} where kind = ${kind} and field = ${name}`);
}

/** Records the column that keeps a field's misfits as text. A field that no list has shown yet gets its row here. */
export async function saveTextColumn(
  tx: Transaction,
  kind: Kind,
  { field, column, now }: { readonly field: string; readonly column: string; readonly now: Date },
): Promise<void> {
  const shown = new Map([[field, { type: 'none', fitsHint: false, wire: '' }]] as const);
  const [known] = await tx.query(sql`select 1 from fields where kind = ${kind.name} and field = ${field}`);
  if (known === undefined) await saveFields(tx, kind, { fields: shown, now });
  await tx.query(sql`
    update fields set text_column = ${column}, text_position = ${nextPosition(kind.name)}
    where kind = ${kind.name} and field = ${field}`);
}

/** Records that these fields cannot have a column. */
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
