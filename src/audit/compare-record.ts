import { columnType, sentField } from '../catalog/kind.ts';
import type { Field, Kind } from '../catalog/kind.ts';
import { compactJson, isObject, tryParse } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { isStorable } from '../lib/text/text.ts';
import type { Row, SqlValue } from '../mirror/session/session.ts';
import { exactNumber, isSameJson, ownMember, readColumn, readValue } from './read-value.ts';

/** A place where the mirror differs from the service; values in full, `null` = none. */
export interface Difference {
  /** A column, `_raw` or `_deleted_at` included. */
  readonly field: string;
  readonly service: string | null;
  readonly mirror: string | null;
}

/**
 * Compares a record with the row that the mirror has of it, field by field, and with the record's text in `_raw`.
 *
 * @param kind As mirrored: discovered fields have columns too. @param row Its columns by name, `_raw` among them.
 */
export function compareRecord(kind: Kind, record: JsonObject, row: Row): readonly Difference[] {
  const fields = kind.fields.filter(({ name }) => name !== 'id'); // The row was found by its id, so the id agrees.
  return [...compareColumns(fields, record, row), ...compareRaw(kind, record, String(row['_raw']))];
}

/** Compares the columns of these fields with the object that they were filled from. */
export function compareColumns(fields: readonly Field[], record: JsonObject, row: Row): Difference[] {
  return fields.flatMap((field) =>
    field.textOf === undefined
      ? compareColumn(field, record, row[field.name] ?? null)
      : compareLostText(fields, field, { record, row }),
  );
}

function compareColumn(field: Field, record: JsonObject, column: SqlValue): Difference[] {
  const value = ownMember(record, field.name) ?? null;
  if (holds(field, value, column)) return [];
  return [{ field: field.name, service: textOf(value), mirror: column === null ? null : String(column) }];
}

interface Compared {
  readonly record: JsonObject;
  readonly row: Row;
}

/** A text column holds only the values that did not fit their field's column. */
function compareLostText(
  fields: readonly Field[],
  { name, textOf: of = '' }: Field,
  { record, row }: Compared,
): Difference[] {
  const field = fields.find((candidate) => candidate.name === of);
  const value = ownMember(record, of) ?? null;
  const isLost = field !== undefined && isLostTo(field, value, row[of] ?? null);
  const expected = isLost ? keptText(value) : null;
  const column = row[name] ?? null;
  if (expected === column) return [];
  return [{ field: name, service: expected, mirror: column === null ? null : String(column) }];
}

/** An empty text is not kept, nor is one that no database can hold. */
function keptText(value: Json): string | null {
  const text = value === '' ? null : textOf(value);
  return text !== null && isStorable(text) ? text : null;
}

/** Whether a column cannot hold a value: it fits no rule, or is a decimal with too many digits. */
function isLostTo(field: Field, value: Json, column: SqlValue): boolean {
  const { fits, text } = readColumn(field, value);
  return (
    !fits || (text !== null && column === null && columnType(field) === 'decimal' && isBeyondReason(text))
  );
}

/** Whether a column holds the meaning of a value; a value that fits no rule must have left it null. */
function holds(field: Field, value: Json, column: SqlValue): boolean {
  const type = columnType(field);
  const { text } = readColumn(field, value);
  if (text === null) return column === null;
  if (column === null) return type === 'decimal' && isBeyondReason(text);
  if (type === 'decimal') return exactNumber(String(column)) === text;
  return type === 'json' ? holdsJson(value, String(column)) : String(column) === text;
}

const LONGEST_DECIMAL = 300;

/** A number whose digits would fill a page: its column may be null. */
function isBeyondReason(exact: string): boolean {
  const [digits = '', power = ''] = exact.split('e');
  return digits.length > LONGEST_DECIMAL || Math.abs(Number(power)) > LONGEST_DECIMAL;
}

/** Whether a column has the JSON text of a value. */
export function holdsJson(value: Json, column: string): boolean {
  const held = tryParse(column);
  return held !== undefined && isSameJson(value, held);
}

/**
 * `_raw` is the record as sent, save for other spellings of the same value, which the mirror does not treat as a
 * change.
 */
function compareRaw(kind: Kind, record: JsonObject, raw: string): Difference[] {
  const held = tryParse(raw);
  if (held === undefined || !isObject(held)) {
    return [{ field: '_raw', service: compactJson(record), mirror: raw }];
  }
  const names = [...new Set([...Object.keys(record), ...Object.keys(held)])];
  const unequal = names.filter((name) => {
    const field = sentField(kind, name);
    return !isSameMember(field, ownMember(record, name), ownMember(held, name));
  });
  if (unequal.length === 0) return [];
  return [{ field: '_raw', service: only(record, unequal), mirror: only(held, unequal) }];
}

function isSameMember(field: Field | undefined, a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return (a ?? null) === (b ?? null); // Absent and null are one.
  if (isSameJson(a, b)) return true;
  if (field === undefined || field.type === 'json') return false;
  const [one, other] = [readValue(field.type, a), readValue(field.type, b)];
  return one.fits && other.fits && one.text === other.text;
}

/** The record with these members only, so that equal members do not hide the others. */
function only(record: JsonObject, names: readonly string[]): string {
  const members = names.filter((name) => Object.hasOwn(record, name));
  return `{${members.map((name) => `${JSON.stringify(name)}:${compactJson(record[name] ?? null)}`).join(',')}}`;
}

function textOf(value: Json): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? value : compactJson(value);
}
