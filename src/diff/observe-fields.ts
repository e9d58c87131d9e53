import type { Field, Kind } from '../catalog/kind.ts';
import { isArray, isNumber, isObject } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { isStorable } from '../lib/text.ts';
import { decodeField } from './decode-field.ts';
import { seenType, widerType } from './field-type.ts';
import type { SeenType } from './field-type.ts';

/** The observed values of a field so far. */
export interface SeenField {
  /** The narrowest type that fits all values; for a field that has its column, the type at that time. */
  readonly type: SeenType;
  /** True while every value has fitted the catalogue's hint; without a hint, false. */
  readonly fitsHint: boolean;
  /** The JSON types that came, nulls aside: `number`, or `number text` where both did. */
  readonly wire: string;
}

const NOTHING_SEEN: SeenField = { type: 'none', fitsHint: true, wire: '' };

/**
 * Observes the fields of records.
 *
 * @param known The kind's observed fields so far.
 * @returns Only fields that are new or wider than known.
 */
export function observeFields(
  kind: Kind,
  known: ReadonlyMap<string, SeenField>,
  records: readonly JsonObject[],
): Map<string, SeenField> {
  const columns = new Set(kind.fields.filter(({ textOf }) => textOf === undefined).map(({ name }) => name));
  const news = new Map<string, SeenField>();
  for (const record of records) {
    for (const name of Object.keys(record)) {
      const before = news.get(name) ?? known.get(name);
      const value = record[name] ?? null;
      if (before !== undefined && columns.has(name) && hasCome(before.wire, value)) continue; // Nearly always.
      if (!isStorable(name)) continue;
      const wire = alsoCame(before?.wire ?? '', value);
      const seen = columns.has(name)
        ? { ...(before ?? NOTHING_SEEN), wire }
        : { ...seenAlso(kind, name, { before, value }), wire };
      if (!isSame(seen, before)) news.set(name, seen);
    }
  }
  return news;
}

interface Sight {
  readonly before: SeenField | undefined;
  readonly value: Json;
}

function seenAlso(
  { hints }: Kind,
  name: string,
  { before = NOTHING_SEEN, value }: Sight,
): Omit<SeenField, 'wire'> {
  const hint = hints.find((candidate) => candidate.name === name);
  return {
    type: before.type === 'json' ? 'json' : widerType(before.type, seenType(value)), // Nothing is wider.
    fitsHint: hint !== undefined && before.fitsHint && fits(hint, value),
  };
}

function isSame(seen: SeenField, before: SeenField | undefined): boolean {
  return seen.type === before?.type && seen.fitsHint === before.fitsHint && seen.wire === before.wire;
}

/** A reference field is always a reference: a value that is no id is kept as text beside it. */
function fits(hint: Field, value: Json): boolean {
  if (hint.refersTo !== undefined) return !isArray(value) && !isObject(value);
  let isMisfit = false;
  decodeField(hint, value, (_field, code) => {
    isMisfit ||= code !== 'more_places';
  });
  return !isMisfit;
}

function hasCome(wire: string, value: Json): boolean {
  return value === null || wire.includes(jsonType(value)); // No type's name is part of another's.
}

function alsoCame(wire: string, value: Json): string {
  if (hasCome(wire, value)) return wire;
  const type = jsonType(value);
  return [...wire.split(' '), type].filter(Boolean).sort().join(' ');
}

function jsonType(value: Json): string {
  if (isNumber(value)) return 'number';
  if (isArray(value)) return 'array';
  return isObject(value) ? 'object' : typeof value === 'string' ? 'text' : 'boolean';
}
