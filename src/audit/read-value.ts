import { columnType } from '../catalog/kind.ts';
import type { Field, FieldType } from '../catalog/kind.ts';
import { compactJson, DEEPEST, isArray, isDeeper, isNumber, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { isStorable } from '../lib/text/text.ts';

/**
 * The meaning of a value in a field, by the rules of the mirror's contract. Written a second time on purpose, without
 * the decoder that fills the mirror, so that a mistake in one is found by the other.
 */
interface Meaning {
  /** False where the value fits no rule of its field. */
  readonly fits: boolean;
  /** A text that is equal for equal values; null = none. */
  readonly text: string | null;
}

const NONE: Meaning = { fits: true, text: null };
const MISFIT: Meaning = { fits: false, text: null };
const meant = (text: string): Meaning => ({ fits: true, text });

/** Reads a value as the column of its field must hold it. */
export function readColumn(field: Field, value: Json): Meaning {
  const isNoRecord = field.refersTo !== undefined && field.type === 'text' && value === '';
  return isNoRecord ? NONE : readValue(columnType(field), value);
}

/** Reads a value by its field's type; nested values count as `text` only to show that they fit. */
export function readValue(type: FieldType, value: Json): Meaning {
  return value === null ? NONE : RULES[type](value);
}

type Rule = (value: Exclude<Json, null>) => Meaning;

const LARGEST = 9_223_372_036_854_775_807n;
const DECIMAL_TEXT = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const DAY = /^\d{4}-\d\d-\d\d$/;

const RULES: Record<FieldType, Rule> = {
  integer: (value) => {
    const token = scalarText(value);
    return token !== null && isInteger64(token) ? meant(token) : MISFIT;
  },
  flag: (value) => {
    const token = typeof value === 'boolean' ? String(Number(value)) : scalarText(value);
    return token === '0' || token === '1' ? meant(token) : MISFIT;
  },
  decimal: (value) => {
    if (value === '') return NONE;
    const token = scalarText(value);
    const isDecimal = token !== null && (isNumber(value) || DECIMAL_TEXT.test(token));
    const exact = isDecimal ? exactNumber(token) : null;
    return exact === null ? blankOrMisfit(value) : meant(exact);
  },
  date: (value) => (typeof value === 'string' && isDay(value) ? meant(value) : blankOrMisfit(value)),
  time: (value) => {
    const time = typeof value === 'string' && value.length === 5 ? `${value}:00` : value;
    return typeof time === 'string' && isInstant(`2000-01-01 ${time}`) ? meant(time) : blankOrMisfit(value);
  },
  timestamp: (value) => {
    const instant = typeof value === 'string' ? value.replace(/^(.{10})T/, '$1 ') : '';
    if (value === '0000-00-00 00:00:00') return NONE;
    return isInstant(instant) ? meant(instant) : blankOrMisfit(value);
  },
  text: (value) => {
    const text = typeof value === 'boolean' ? String(value) : scalarText(value);
    return text !== null && isStorable(text) ? meant(text) : MISFIT;
  },
  json: (value) => (holdsStorableOnly(value) ? meant('') : MISFIT),
};

/** How the service writes "none" in dates, times and decimals. */
function blankOrMisfit(value: Json): Meaning {
  return value === '' || value === '0000-00-00' ? NONE : MISFIT;
}

/** Text as it is, a number as its token; null for everything else. */
function scalarText(value: Json): string | null {
  return typeof value === 'string' || isNumber(value) ? String(value) : null;
}

/** A whole number of at most 64 bits, in its only spelling. */
function isInteger64(token: string): boolean {
  if (!/^-?\d{1,19}$/.test(token)) return false;
  const integer = BigInt(token);
  return String(integer) === token && integer <= LARGEST && integer >= -LARGEST - 1n;
}

/** A day of the calendar: a date that would roll over into another day is invalid. */
function isDay(text: string): boolean {
  return DAY.test(text) && text >= '0001-01-01' && isInstant(`${text} 00:00:00`);
}

function isInstant(text: string): boolean {
  if (text.length !== 19 || text < '0001' || text[10] !== ' ') return false;
  const instant = new Date(`${text.replace(' ', 'T')}Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === `${text.replace(' ', 'T')}.000Z`;
}

/** Whether all texts within, names included, can be stored when a view extracts them. */
function holdsStorableOnly(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (isArray(value)) return value.every(holdsStorableOnly);
  if (!isObject(value)) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && holdsStorableOnly(member));
}

const LONGEST_POWER = 400;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Writes a decimal or a JSON number as `<digits>e<power>` without zeros at either end: equal numbers, equal texts.
 *
 * Nothing is computed with floats, and no exponent is ever written out. Null where the text is no number.
 */
export function exactNumber(token: string): string | null {
  const [, sign = '', whole, fraction = '', power = '0'] = NUMBER.exec(token) ?? [];
  if (whole === undefined) return null;
  if (power.length > LONGEST_POWER) return token; // To compute with it would cost more than it is worth.
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0e0';
  let end = digits.length; // Without a pattern, which would try every run of zeros.
  while (digits[end - 1] === '0') end--;
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - end);
  return `${sign}${digits.slice(0, end)}e${exponent}`;
}

/** Equal as JSON: only the order of keys and the spelling of numbers may differ. */
export function isSameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && exactNumber(String(a)) === exactNumber(String(b));
  if (isArray(a))
    return isArray(b) && a.length === b.length && a.every((item, at) => isSameJson(item, b[at] ?? null));
  return isObject(a) && isObject(b) && isSameObject(a, b);
}

function isSameObject(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name] ?? null, b[name] ?? null))
  );
}

/** A record that has a row of its own. */
export interface KnownRecord {
  readonly id: string;
  readonly record: JsonObject;
}

interface SortedRecords {
  readonly known: readonly KnownRecord[];
  readonly unusable: readonly UnusableRecord[];
}

/** A record that can have no row: it has no usable id, is nested too deep, or came twice with different contents. */
interface UnusableRecord {
  readonly id: string | null;
  /** Tells it from other unusable records. */
  readonly text: string;
}

/**
 * Separates the comparable records of one answer from the others; an id shown twice with equal content counts once.
 */
export function sortRecords(records: readonly Json[]): SortedRecords {
  const byId = new Map<string, JsonObject>();
  const unusable: UnusableRecord[] = [];
  const torn = new Set<string>();
  for (const record of records) {
    const id = isObject(record) ? idOf(record) : null;
    const isTooDeep = isDeeper(record, DEEPEST);
    if (id === null || !isObject(record) || isTooDeep) {
      unusable.push({ id, text: isTooDeep ? 'nested too deep' : compactJson(record) });
      continue;
    }
    const other = byId.get(id);
    if (other !== undefined && !isSameJson(other, record)) torn.add(id); // The answer does not show which of them is true.
    byId.set(id, record);
  }
  const known = [...byId].filter(([id]) => !torn.has(id)).map(([id, record]) => ({ id, record }));
  return { known, unusable: [...unusable, ...[...torn].map((id) => ({ id, text: '' }))] };
}

/** The record's id if it is a whole number from 1 to 2^63−1 in its only spelling. */
function idOf(record: JsonObject): string | null {
  const token = scalarText(ownMember(record, 'id') ?? null);
  return token !== null && isInteger64(token) && BigInt(token) >= 1n ? token : null;
}

/** A member of the record itself: never `constructor` and its like from the prototype. */
export function ownMember(record: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
