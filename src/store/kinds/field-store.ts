import { sql, type SQL } from 'drizzle-orm';
import { isExcludedName } from '../../catalog/exclude.ts';
import { columnType, type Field, type Kind, type Shape } from '../../catalog/kind.ts';
import type { SeenField } from '../../diff/observe-fields.ts';
import { listViewOf, type ShownFields } from '../../diff/shown-value.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { readMetaJson, writeMeta } from './meta.ts';
import { FIELDS } from '../tables/engine-tables.ts';
import { isArrayField, nestedTables } from '../tables/kind-table.ts';
import {
  assignments,
  hasRow,
  insertInto,
  pickColumns,
  readNumber,
  readTexts,
  select,
} from '../../db/rows/rows.ts';

/** A field that the service sends, as the mirror knows it. */
export interface KnownField extends SeenField {
  /** The instant since which no record has the field; null while some records have it. */
  readonly vanishedAt: string | null;
}

/** All fields of a kind that the service has ever sent, in order of first sight; excluded ones are left out. */
export async function readFields(
  db: Queryable,
  kind: string,
  excluded: readonly Field[] = [],
): Promise<Map<string, KnownField>> {
  const rows = await select(db, FIELDS, sql`where kind = ${kind} order by position`);
  const shown = rows.filter((row) => excluded.every(({ name }) => name !== row.field));
  return new Map(shown.map((row) => [row.field, { ...seenField(row), vanishedAt: row.vanishedAt }]));
}

/** The fields that the list of a kind shows. */
export const readListView = async (db: Queryable, kind: string): Promise<ShownFields> =>
  listViewOf(await readFields(db, kind));

/**
 * A kind as the mirror holds it: the documented fields, then the discovered ones in order of first sight, each column of texts
 * that did not fit where it was added. A field that was discovered before it was documented keeps the type of its column.
 */
export async function readMirroredKind<K extends Kind>(db: Queryable, kind: K): Promise<K> {
  const rows = await select(
    db,
    FIELDS,
    sql`where kind = ${kind.name} and (column_type <> 'unusable' or text_column is not null)`,
  );
  const shown = rows.filter((row) => !isExcludedName(kind, row.field));
  const texts = shown.flatMap(({ field: textOf, textColumn: name, textPosition }): AddedField[] =>
    name === null ? [] : [{ position: textPosition ?? 0, field: { name, type: 'text', textOf } }],
  );
  const added = inOrder([...shown.flatMap((row) => discoveredField(kind.hints, row)), ...texts]);
  const columns = new Map(added.map((column) => [column.field.name, column.field]));
  const documented = kind.fields.map((field) => withColumn(field, columns.get(field.name)));
  for (const { name } of documented) columns.delete(name);
  const allowedAgain = (await readAllowed(db, kind.name)).filter((name) => !isExcludedName(kind, name));
  return withDiscoveredItems(db, { ...kind, allowedAgain, fields: [...documented, ...columns.values()] });
}

/** The fields that were kept out, and that no whole list had shown again by an instant: what rows lack of them is unknown. */
export async function readAllowed(db: Queryable, kind: string, at?: string): Promise<readonly string[]> {
  const allowed = ((await readMetaJson(db, `allowed.${kind}`)) ?? []) as string[];
  const last = (await readMetaJson(db, `refilled.${kind}`)) as { fields: string[]; at: string } | null;
  return at !== undefined && last !== null && last.at > at ? [...allowed, ...last.fields] : allowed;
}

/** Notes that a whole list has been read with the fields that are allowed again; one that this process still keeps out waits on. */
export async function endAllowedAgain(tx: Transaction, { name, allowedAgain = [] }: Kind, now: Date) {
  if (allowedAgain.length === 0) return;
  await writeMeta(tx, `refilled.${name}`, JSON.stringify({ fields: allowedAgain, at: formatInstant(now) }));
  const left = (await readAllowed(tx, name)).filter((field) => !allowedAgain.includes(field));
  await writeMeta(tx, `allowed.${name}`, JSON.stringify(left));
}

/** A documented field with the type of its column, where that was discovered before. */
function withColumn(field: Field, column = field): Field {
  const { name, write, refersTo } = field;
  const kept = { ...(write && { write }), ...(refersTo !== undefined && { refersTo }) };
  if (column.textOf !== undefined) return field.type === 'text' ? field : { name, type: 'text', ...kept };
  if (field.type === 'json' && column.type === 'json') return { ...field, ...column };
  if (field.type === 'decimal' && column.type === 'decimal') return { ...field, ...column };
  if (field.type === 'text' && column.type === 'text') return { ...field, ...column };
  return { ...kept, ...column };
}

interface AddedField {
  readonly position: number;
  readonly field: Field;
}

const inOrder = (fields: readonly AddedField[]): readonly AddedField[] =>
  [...fields].sort((a, b) => a.position - b.position);

/** A discovered field. If its column has the hint's type, the hint's other properties apply too. */
function discoveredField(hints: readonly Field[], row: typeof FIELDS.$inferSelect): AddedField[] {
  const { field: name, columnType: type, columnScale: scale, position, wire } = row;
  if (type === null || type === 'unusable') return [];
  const hint = hints.find((candidate) => candidate.name === name && columnType(candidate) === type);
  if (type === 'decimal') return [{ position, field: { name, type, ...(scale !== null && { scale }) } }];
  if (type === 'json') return [{ position, field: nestedField(name, wire, hint) }];
  const { type: sent = type, refersTo } = hint ?? {};
  return [{ position, field: { name, type: sent, ...(refersTo !== undefined && { refersTo }) } }];
}

/** A nested value is an object as long as no array has come. */
function nestedField(name: string, wire: string, hint?: Field): Field {
  const { items, itemHints, isObject = wire === 'object' } = hint ?? {};
  if (items !== undefined) return { name, type: 'json', items };
  return { name, type: 'json', isObject, ...(itemHints && { itemHints }) };
}

/** The kind with the discovered fields of its nested arrays' elements. */
async function withDiscoveredItems<K extends Kind>(db: Queryable, kind: K): Promise<K> {
  const tables = nestedTables(kind);
  if (tables.length === 0) return kind;
  const names = sqlList(tables.map((table) => table.name));
  const rows = await select(db, FIELDS, sql`where kind in (${names}) and column_type <> 'unusable'`);
  if (rows.length === 0) return kind;
  const tableOf = new Map(tables.map((table) => [table.array, table.name]));
  const withItems = (field: Field): Field => {
    const itemRows = rows.filter((row) => row.kind === tableOf.get(field.name));
    if (itemRows.length === 0 || !isArrayField(field)) return field;
    const discovered = inOrder(itemRows.flatMap((row) => discoveredField(field.itemHints ?? [], row)));
    return { ...field, discoveredItems: discovered.map((added) => added.field) };
  };
  return { ...kind, fields: kind.fields.map(withItems), hints: kind.hints.map(withItems) };
}

/** Fields that have no column yet, with the types that they have shown; in order of first sight. */
export async function readUndiscovered(db: Queryable, kind: Shape) {
  const unseen = sql`where kind = ${kind.name} and column_type is null order by position`;
  const rows = await select(db, FIELDS, unseen);
  const sent = new Set(kind.fields.filter((field) => field.textOf === undefined).map((field) => field.name));
  const open = rows.filter((row) => !sent.has(row.field) && !isExcludedName(kind, row.field));
  return open.map((row) => [row.field, seenField(row)] as const);
}

const seenField = (row: typeof FIELDS.$inferSelect): SeenField => ({
  type: row.type,
  fitsHint: row.fitsHint === 1,
  wire: row.wire,
});

/** Records fields seen for the first time, or with a wider type than before. */
export async function saveFields(
  tx: Transaction,
  shape: Shape,
  fields: ReadonlyMap<string, SeenField>,
  now: Date,
): Promise<void> {
  if (fields.size === 0) return;
  const documented = new Set(shape.fields.map((field) => field.name));
  const next = await readNumber(tx, sql`select ${nextPosition(shape.name)}`);
  const rows = [...fields].map(([field, { type, fitsHint, wire }], index) => ({
    kind: shape.name,
    field,
    documented: documented.has(field) ? 1 : 0,
    type,
    fitsHint: fitsHint ? 1 : 0,
    wire,
    position: (next ?? 0) + index,
    firstSeenAt: formatInstant(now),
  }));
  for (const some of inChunks(rows, ROWS_A_STATEMENT)) {
    await tx.query(sql`
      ${insertInto(FIELDS, ...some)} on conflict (kind, field) do update set
        type = excluded.type, fits_hint = excluded.fits_hint, wire = excluded.wire`);
  }
}

/** The next place in the order of a kind's columns. */
const nextPosition = (kind: string): SQL => sql`(
  select coalesce(max(case when text_position > position then text_position else position end), 0) + 1
  from fields where kind = ${kind})`;

const ROWS_A_STATEMENT = 100;

/** Records that a field now has its column. */
export const saveColumn = (tx: Transaction, kind: string, field: Field): Promise<void> =>
  changeFields(tx, kind, [field.name], { columnType: columnType(field), columnScale: field.scale ?? null });

/** Records what is known of these fields. */
export async function changeFields(
  tx: Transaction,
  kind: string,
  fields: readonly string[],
  known: Partial<Pick<typeof FIELDS.$inferSelect, 'columnType' | 'columnScale' | 'vanishedAt'>>,
): Promise<void> {
  const set = assignments(FIELDS, known);
  for (const some of inChunks(fields))
    await tx.query(sql`update fields set ${set} where kind = ${kind} and field in (${sqlList(some)})`);
}

/** Records the column that keeps a field's misfits as text. A field that no list has shown yet gets its row here. */
export async function saveTextColumn(
  tx: Transaction,
  kind: Kind,
  { field, column, now }: { field: string; column: string; now: Date },
): Promise<void> {
  const isOne = sql`kind = ${kind.name} and field = ${field}`;
  const shown = new Map([[field, { type: 'none', fitsHint: false, wire: '' }]] as const);
  const isKnown = await hasRow(tx, sql`select 1 from fields where ${isOne}`);
  if (!isKnown) await saveFields(tx, kind, shown, now);
  await tx.query(sql`
    update fields set text_column = ${column}, text_position = ${nextPosition(kind.name)} where ${isOne}`);
}

/** Reads the documented fields that were sent once and that no record has any more, as issues. */
export async function readVanished(db: Queryable, kind: Kind) {
  const names = kind.fields.map((field) => field.name); // An excluded field is none of them.
  const vanished = sql`
    select field from fields where kind = ${kind.name} and documented = 1 and vanished_at is not null
      and field in (${sqlList(names)}) order by field`;
  const fields = await readTexts(db, vanished);
  return fields.map((field) => ({ recordId: null, field, detail: 'no record has it' }));
}

/** Names of fields that the service has ever sent, by record kind. */
export type SeenNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the names of all fields that the service has ever sent of these kinds; a kind that was never read is left out. */
export async function readSeenNames(db: Queryable, kinds: readonly string[]): Promise<SeenNames> {
  const seen = new Map<string, Set<string>>();
  if (kinds.length === 0) return seen;
  const rows = await select(db, pickColumns(FIELDS, 'kind', 'field'), sql`where kind in (${sqlList(kinds)})`);
  for (const { kind, field } of rows) {
    const names = seen.get(kind) ?? new Set<string>();
    seen.set(kind, names.add(field));
  }
  return seen;
}

/** The same of a database that may hold no mirror yet. */
export const readNamesSoFar = (session: Session, kinds: readonly string[]): Promise<SeenNames> =>
  session.atomically(async (tx) =>
    (await tx.listColumns('fields')).size === 0 ? new Map() : readSeenNames(tx, kinds),
  );
