import type { Field } from '../catalog/kind.ts';
import { shortestNumber } from '../lib/decimal.ts';
import { canonicalJson, isArray, isNumber, isObject } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { decodeField } from './decode-field.ts';
import type { MisfitCode } from './decode-field.ts';

const NO_DAY = new Set<Json>(['0000-00-00', '0000-00-00 00:00:00']);
const HAS_DAYS = new Set<Field['type'] | undefined>(['date', 'time', 'timestamp', 'decimal']); // Decimals: seen so.
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a value is blank: the service answers null for '' and '' for null, and '0000-00-00' for no date. */
export function isBlank(field: Field | undefined, value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return HAS_DAYS.has(field?.type) && NO_DAY.has(value);
}

/** A text that is equal for values that the service holds equal: by the field's type, as JSON where it fits none. */
export function normalForm(field: Field | undefined, value: Json): string {
  return (field && FORMS[field.type]?.(value, field)) ?? canonicalJson(value);
}

/** A value's part in a key: equal for equal values, and for a number and its own text in a field without a number's type. */
export function keyForm(field: Field | undefined, value: Json): Json {
  if (isBlank(field, value)) return null;
  if (isArray(value)) return value.map((element) => elementForm(field?.items ?? [], element));
  if (hasType(field)) return normalForm(field, value);
  if (isNumber(value) || (typeof value === 'string' && JSON_NUMBER.test(value)))
    return numberText(value) ?? String(value);
  return value;
}

/** Whether the field's type defines a spelling of its values; texts and unknown fields are compared as they are. */
export function hasType(field: Field | undefined): field is Field {
  return field !== undefined && field.type in FORMS;
}

/** The shortest text of a number, or of a text that is one; null for all else. */
export function numberText(value: Json): string | null {
  return isNumber(value) || typeof value === 'string' ? shortestNumber(String(value)) : null;
}

/** A date or time as its column holds it; null where it is none. */
function calendarText(value: Json, field: Field): string | null {
  const misfits: MisfitCode[] = [];
  const decoded = decodeField(field, value, (_field, code) => misfits.push(code));
  return misfits.length === 0 && typeof decoded === 'string' ? decoded : null;
}

const FORMS: Partial<Record<Field['type'], (value: Json, field: Field) => string | null>> = {
  integer: numberText,
  decimal: numberText,
  flag: (value) => numberText(typeof value === 'boolean' ? Number(value) : value),
  date: calendarText,
  time: calendarText,
  timestamp: calendarText,
};

/** An element of an array, without the members that say nothing. */
function elementForm(items: readonly Field[], element: Json): Json {
  if (!isObject(element)) return keyForm(undefined, element);
  const members = Object.entries(element).map(([name, value]) => {
    const field = items.find((candidate) => candidate.name === name);
    return [name, keyForm(field, value)] as const;
  });
  return Object.fromEntries(members.filter(([, form]) => form !== null)) satisfies JsonObject;
}
