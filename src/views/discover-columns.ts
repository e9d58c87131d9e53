import { sql } from 'drizzle-orm';
import { isListed, type Field, type Kind, type Shape } from '../catalog/kind.ts';
import { MAX_IDENTIFIER_BYTES, RESERVED_SUFFIXES } from '../catalog/reserved-names.ts';
import { columnObstacle, discoveredColumn, textColumnName } from '../diff/observe-fields.ts';
import { saveDrift, type Drift } from '../store/kinds/drift-store.ts';
import {
  changeFields,
  readMirroredKind,
  readUndiscovered,
  saveColumn,
  saveTextColumn,
} from '../store/kinds/field-store.ts';
import type { Queryable, Session, Transaction } from '../db/session/session.ts';
import { sqlList } from '../db/session/sql-list.ts';
import {
  decoderHash,
  elementShape,
  nestedName,
  nestedTables,
  type NestedTable,
} from '../store/tables/kind-table.ts';
import { readTexts } from '../db/rows/rows.ts';
import { writeDictionary, createViews } from './create-views.ts';
import { readStatusKinds, statusFields, statusesViews } from './statuses-view.ts';
import { kindViews, filterKindsWithRows } from './views.ts';
import { changeKindTables } from '../store/schema/change-kind-tables.ts';

/**
 * Adds an empty column for every undocumented field of a kind's records and of their nested arrays, and puts it at the end of
 * its view. Adds a text column likewise for a field with a value that does not fit. Makes the views of a kind that has its
 * first rows.
 * @param kind The kind as mirrored so far.
 * @returns The kind as mirrored from now on.
 * @throws {MirrorError} `mirror.locked` on PostgreSQL if a reader holds the table; the next sweep tries again.
 */
export async function discoverColumns<K extends Kind>(session: Session, kind: K, now: Date): Promise<K> {
  return session.atomically(async (tx) => {
    await addDiscovered(tx, kind, null, now);
    await retypeLateNested(tx, kind);
    await addTextColumns(tx, await readMirroredKind(tx, kind), now);
    for (const table of nestedTables(kind)) await addDiscovered(tx, elementShape(kind, table), table, now);
    const extended = await readMirroredKind(tx, kind);
    if (!(await needsNewViews(tx, kind, extended))) return kind;
    const views = kindViews(extended, session.dialect);
    await changeKindTables(tx, extended, session.dialect);
    await createViews(tx, views);
    await writeDictionary(tx, views, 'these');
    if (statusFields(extended).size > statusFields(kind).size)
      await createViews(tx, statusesViews(await readStatusKinds(tx), session.dialect));
    return extended;
  });
}

async function needsNewViews(tx: Transaction, kind: Kind, extended: Kind): Promise<boolean> {
  if (decoderHash(extended) !== decoderHash(kind)) return true;
  return (
    !isListed(kind) &&
    (await tx.listColumns(`bi_${kind.name}`)).size === 0 &&
    (await filterKindsWithRows(tx, [kind])).length > 0
  );
}

/** @param nested The table of the elements that have the fields; null = the records have them. */
async function addDiscovered(tx: Transaction, shape: Shape, nested: NestedTable | null, now: Date) {
  let extended = shape;
  const unusable: Drift[] = [];
  const place = nested === null ? '' : `${nested.array}[].`;
  const sent = nested === null ? shape : { ...shape, fields: nested.items };
  for (const [name, seen] of await readUndiscovered(tx, sent)) {
    const column = discoveredColumn(shape, name, seen);
    const obstacle =
      columnObstacle(extended, column) ?? (nested === null ? await viewObstacle(tx, shape, column) : null);
    if (obstacle === null) {
      await saveColumn(tx, shape.name, column);
      extended = { ...extended, fields: [...extended.fields, column] };
    } else {
      await changeFields(tx, shape.name, [name], { columnType: 'unusable' });
      const owner = nested?.kind ?? shape.name;
      unusable.push({ kind: owner, code: 'unusable_field', field: `${place}${name}`, detail: obstacle });
    }
  }
  await saveDrift(tx, unusable, now);
}

/**
 * Gives the type of nested values to fields that had only been empty when they got their columns, as texts, and that are nested
 * values since. The column keeps its declared type.
 */
async function retypeLateNested(tx: Transaction, kind: Kind): Promise<void> {
  const late = sql`
    select field from fields
    where kind = ${kind.name} and type = 'none' and column_type = 'text' and wire in ('array', 'object', 'array object')`;
  for (const name of await readTexts(tx, late)) {
    const column: Field = { name, type: 'json' };
    if ((await viewObstacle(tx, kind, column)) === null) await saveColumn(tx, kind.name, column);
  }
}

/** A nested value has a table and a view of its own. Their name must not be another kind's, nor too long for PostgreSQL. */
async function viewObstacle(tx: Transaction, shape: Shape, { name, type }: Field): Promise<string | null> {
  if (type !== 'json') return null;
  const view = nestedName(shape.name, name);
  const isOurs = nestedTables(shape).some((table) => table.name === view); // Seen in the wild: it has its table already.
  const isReserved =
    RESERVED_SUFFIXES.some((suffix) => view.endsWith(suffix)) ||
    (!isOurs && (await tx.listColumns(view)).size > 0);
  if (isReserved) return `the view bi_${view} is another one's`;
  const isTooLong = Buffer.byteLength(`bi_${view}`) > MAX_IDENTIFIER_BYTES;
  return isTooLong ? `the name of its view, bi_${view}, is too long` : null;
}

/**
 * Registers `<field>_text` for each discovered field, each of a ready file, and each reference documented as a text, that has an open
 * misfit. The table and the view do not have the column yet.
 */
async function addTextColumns(tx: Transaction, kind: Kind, now: Date): Promise<void> {
  let extended = kind;
  for (const field of await fieldsWithLostTexts(tx, kind)) {
    const name = textColumnName(extended, field);
    if (name === null) continue; // Its issue and `_raw` keep it.
    if (name !== `${field}_text`) {
      const detail = `"${field}_text" is a field of the service: values that do not fit are in "${name}"`;
      await saveDrift(tx, [{ kind: kind.name, code: 'text_column', field, detail }], now);
    }
    await saveTextColumn(tx, kind, { field, column: name, now });
    extended = { ...extended, fields: [...extended.fields, { name, type: 'text', textOf: field }] };
  }
}

/**
 * The fields with a misfit `not_…`: a value that cannot stand in the column, and is a text that a database can store. An empty text
 * cannot stand there either, but needs no column to be kept.
 */
async function fieldsWithLostTexts(db: Queryable, kind: Kind): Promise<readonly string[]> {
  const isKept = ({ type, refersTo }: Field): boolean =>
    type === 'text' ? refersTo !== undefined : kind.isOptional === true && type !== 'json';
  const names = ['', ...kind.fields.filter(isKept).map((field) => field.name)];
  const lost = sql`
    select i.field, coalesce(min(f.position), 0) from issues i
    left join fields f on f.kind = i.kind and f.field = i.field
    where i.kind = ${kind.name} and i.closed_at is null and i.code like 'not%' and i.detail <> '""'
      and f.text_column is null and (f.column_type not in ('unusable', 'json') or i.field in (${sqlList(names)}))
    group by i.field order by 2, 1`;
  return readTexts(db, lost);
}
