import { isExcludedName } from '../catalog/exclude.ts';
import { findSentField, type Field, type Kind } from '../catalog/kind.ts';
import { isArray, type Json, type JsonObject } from '../lib/json/json.ts';
import { NO_DAY, ownValue } from './decode-record.ts';

/** The fields that a view of the service (its list, or its answers about one record) shows in some record. */
export type ShownFields = Pick<ReadonlySet<string>, 'has'>;

/** The list of a kind as its last complete reading showed it. @param fields Since when no record of it has a field; null = some have. */
export const listViewOf = (
  fields: ReadonlyMap<string, { readonly vanishedAt?: string | null | undefined }>,
): ShownFields => ({ has: (name) => fields.has(name) && (fields.get(name)?.vanishedAt ?? null) === null });

/** A record's value of a field: a view that shows the field leaves it out where it is blank (null), else it is unknown (undefined). */
export function valueIn(kind: Kind, record: JsonObject, name: string, view: ShownFields): Json | undefined {
  const value = shownValue(kind, record, name);
  const names = [name, writeNameOf(findSentField(kind, name) ?? { name, type: 'text' })];
  return value === undefined && names.some((one) => view.has(one)) ? null : value;
}

/** A record with a null for each of these fields that it leaves out as blank. */
export function withBlanks(kind: Kind, record: JsonObject, names: readonly string[], view: ShownFields) {
  const blank = names.filter((name) => valueIn(kind, record, name, view) === null);
  return { ...record, ...Object.fromEntries(blank.map((name) => [name, null])) };
}

/** A record's value of a field: under its name in a read or, as some copies do, under its name in a write. */
export function shownValue(kind: Kind, record: JsonObject, name: string): Json | undefined {
  const value = ownValue(record, name);
  const field = findSentField(kind, name);
  return value === undefined && field ? ownValue(record, writeNameOf(field)) : value;
}

/** The field of a kind that a cell of its view can change. Lists of entries have tables of their own; other columns are computed. */
export function writableField(kind: Kind, column: string): Field | undefined {
  const field = kind.fields.find(({ name, textOf }) => name === column && textOf === undefined);
  const isWritten = column !== 'id' && field?.type !== 'json' && !isExcludedName(kind, column);
  return isWritten ? field : undefined;
}

/** The name of a field in a write. */
export const writeNameOf = (field: Field): string => field.write?.name ?? field.name;

const TYPES_WITH_NO_DAY = new Set<Field['type'] | undefined>(['date', 'time', 'timestamp', 'decimal']); // Decimals: seen so.
/** Whether a value is blank: the service answers null for '' and '' for null, '0000-00-00' for no date, and [] for no rows. */
export function isBlank(field: Field | undefined, value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (isArray(value)) return value.length === 0;
  return TYPES_WITH_NO_DAY.has(field?.type) && NO_DAY.has(value);
}
