import { idColumnName, type Field, type FieldType, type Shape } from '../catalog/kind.ts';
import {
  DECIMAL_SUFFIXES,
  MAX_IDENTIFIER_BYTES,
  MAX_NAME_LENGTHS,
  POSTGRES_COLUMNS,
} from '../catalog/reserved-names.ts';
import { isArray, isNumber, isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import { isStorable } from '../lib/text/text.ts';
import { decodeIfFits } from './decode-record.ts';

/** The observed values of a field so far. */
export interface SeenField {
  /** The narrowest type that fits all values; for a field that has its column, the type at that time. */
  readonly type: SeenType;
  /** True while every value has fitted the catalogue's hint; without a hint, false. */
  readonly fitsHint: boolean;
  /** The JSON types received, without null: `number`, or `number text` for both. */
  readonly wire: string;
}

const NOTHING_SEEN: SeenField = { type: 'none', fitsHint: true, wire: '' };

/** The most field names tracked for a kind; a service that sends more uses data as names. */
export const MAX_FIELDS = 1_000;
/** A longer name could have no column, and PostgreSQL could not index it. */
const LONGEST_NAME = 255;

/**
 * Observes the fields of records. Documented and known names are tracked, further ones while there is room.
 * @param known The kind's observed fields so far.
 */
export function observeFields(
  kind: Shape,
  known: ReadonlyMap<string, SeenField>,
  records: readonly JsonObject[],
) {
  const fields = new Map<string, SeenField>(); // Only those that are new or wider than known.
  const untracked = new Set<string>(); // Because there is no room, or because of their length.
  const columns = kind.fields.filter((field) => field.textOf === undefined).map((field) => field.name);
  // Of a field that has its column only the JSON types count; nearly always they have come before.
  const wires = new Map(columns.map((name) => [name, known.get(name)?.wire ?? null]));
  let room = MAX_FIELDS - known.size;
  const widen = (name: string, value: Json): void => {
    const before = fields.get(name) ?? known.get(name);
    const isColumn = wires.has(name);
    if (before === undefined && !isColumn && (room <= 0 || name.length > LONGEST_NAME)) {
      untracked.add(name);
      return;
    }
    const seen = isColumn ? observeColumnValue(before, value) : observeValue(kind, name, before, value);
    if (isSameField(seen, before) || !isStorable(name)) return;
    if (before === undefined && !isColumn) room--;
    if (isColumn) wires.set(name, seen.wire);
    fields.set(name, seen);
  };
  for (const record of records)
    for (const name of Object.keys(record)) {
      const value = record[name] ?? null;
      const wire = wires.get(name) ?? null;
      if (wire === null || !isKnownType(wire, value)) widen(name, value);
    }
  return { fields, untracked };
}

const isSameField = (seen: SeenField, before: SeenField | undefined): boolean =>
  seen.type === before?.type && seen.fitsHint === before.fitsHint && seen.wire === before.wire;

function observeColumnValue(before = NOTHING_SEEN, value: Json): SeenField {
  return { ...before, wire: addType(before.wire, value) };
}

function observeValue(shape: Shape, name: string, before = NOTHING_SEEN, value: Json): SeenField {
  const hint = shape.hints.find((candidate) => candidate.name === name);
  return {
    type: before.type === 'json' ? 'json' : widerType(before.type, seenType(value)), // Nothing is wider.
    fitsHint: hint !== undefined && before.fitsHint && fitsHint(hint, value),
    wire: addType(before.wire, value),
  };
}

/** A reference field is always a reference: a value that is not an id is kept as text beside it. */
function fitsHint(hint: Field, value: Json): boolean {
  if (hint.refersTo !== undefined) return !isArray(value) && !isObject(value);
  return decodeIfFits(hint, value) !== undefined && (hint.type !== 'date' || isDayAlone(value));
}

function isKnownType(wire: string, value: Json): boolean {
  if (typeof value === 'string' && wire === 'text') return true; // Nearly always.
  return value === null || wire.includes(jsonType(value)); // No type's name is part of another's.
}

function addType(wire: string, value: Json): string {
  if (isKnownType(wire, value)) return wire;
  return [...wire.split(' '), jsonType(value)].filter(Boolean).sort().join(' ');
}

function jsonType(value: Json): string {
  if (isNumber(value)) return 'number';
  if (isArray(value)) return 'array';
  return isObject(value) ? 'object' : typeof value === 'string' ? 'text' : 'boolean';
}

/** The type that an undocumented field has shown so far; `none` while it was always null. */
export type SeenType = 'none' | Exclude<FieldType, 'flag' | 'time'>;

const POINTED = /^-?(?:0|[1-9]\d*)\.\d+$/;

/**
 * The narrowest type that fits one value: integer (a JSON number), decimal (a number, or text with a point), date, timestamp,
 * text; json if nested. Digits in quotes are text: they may be a code, and a later code may begin with a zero.
 */
export function seenType(value: Json): SeenType {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return 'text';
  const fits = (type: FieldType): boolean => decodeIfFits({ name: '', type }, value) !== undefined;
  if (isNumber(value)) return (['integer', 'decimal'] as const).find(fits) ?? 'text';
  if (typeof value !== 'string') return 'json';
  if (POINTED.test(value) && fits('decimal')) return 'decimal';
  const type = isDayAlone(value) ? 'date' : 'timestamp';
  return fits(type) ? type : 'text';
}

/** A date column would lose the time of an instant. */
const isDayAlone = (value: Json): boolean => typeof value !== 'string' || value.length <= 'YYYY-MM-DD'.length;

/** The narrowest type that fits all values of both types. */
export function widerType(a: SeenType, b: SeenType): SeenType {
  if (a === b || b === 'none') return a;
  if (a === 'none') return b;
  if (a === 'json' || b === 'json') return 'json';
  return [a, b].every((type) => type === 'integer' || type === 'decimal') ? 'decimal' : 'text';
}

/** A kind with more columns sends data as field names; further fields stay in `_raw`. */
const MAX_COLUMNS = 300;

/**
 * The column for an undocumented field. Its type never changes afterwards: a field that was only ever empty is a text, which
 * holds any later scalar.
 */
export function discoveredColumn(shape: Shape, name: string, field: SeenField): Field {
  const hint = shape.hints.find((candidate) => candidate.name === name);
  if (hint !== undefined && field.fitsHint) return hint;
  return { name, type: field.type === 'none' ? 'text' : field.type };
}

/**
 * The reason why a field cannot have a column of its own name; null if it can. Databases compare names without regard to case,
 * decimals take further names, and the mirror's own names begin with `_`.
 */
export function columnObstacle(kind: Shape, { name, type }: Field): string | null {
  if (!isStorable(name) || name === '') return 'its name cannot be stored in a database';
  if (Buffer.byteLength(name) > MAX_NAME_LENGTHS.field) return 'its name is too long';
  if (name.startsWith('_')) return 'names that begin with _ are those of bms-sync';
  if (kind.fields.length >= MAX_COLUMNS) return `the kind has ${kind.fields.length} columns already`;
  const taken = takenNames(kind);
  const clash = namesOf({ name, type }).find((candidate) => taken.has(candidate));
  return clash === undefined ? null : `the name "${clash}" is taken`;
}

/**
 * The name of the text column for values that do not fit a field: `<field>_text`, or `<field>_text_2` and so on if a field of
 * the service has that name; null if the kind can have no further column, or no name is short enough.
 */
export function textColumnName(kind: Shape, field: string): string | null {
  if (kind.fields.length >= MAX_COLUMNS) return null;
  const taken = takenNames(kind);
  let free = `${field}_text`;
  for (let at = 2; taken.has(free.toLowerCase()); at++) free = `${field}_text_${at}`;
  return Buffer.byteLength(free) <= MAX_IDENTIFIER_BYTES ? free : null;
}

const takenNames = (kind: Shape): ReadonlySet<string> =>
  new Set([...POSTGRES_COLUMNS, ...kind.fields.flatMap(namesOf)]);

function namesOf({ name, type, recordOf }: Field): string[] {
  const derivedNames = type === 'decimal' ? DECIMAL_SUFFIXES.map((suffix) => name + suffix) : [];
  const ids = recordOf === undefined ? [] : [idColumnName(name)];
  return [name, ...derivedNames, ...ids].map((column) => column.toLowerCase());
}
