import { LosslessNumber, parse, stringify } from 'lossless-json';
import { canonicalNumber } from './decimal.ts';

/** JSON as received: a number that a float may not hold exactly is a `LosslessNumber`, which keeps its token. */
export type Json = null | boolean | number | string | LosslessNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

// A number with a fraction, an exponent, 16 digits or a negative zero. A match inside a string only costs time, so the
// pattern requires the whole number and the next character: ", 5e avenue" does not match.
const NEEDS_LOSSLESS =
  /(?:^|[:,[])\s*(?:-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-?\d{16,}|-0)\s*(?:[,}\]]|$)/;
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/** Parses JSON without rounding any number. @throws {SyntaxError} @throws {RangeError} If it is nested too deep. */
export function parseJson(text: string): Json {
  if (!NEEDS_LOSSLESS.test(text)) return JSON.parse(text) as Json;
  return parse(text, undefined, {
    parseNumber: (token) => (PLAIN_INTEGER.test(token) ? Number(token) : new LosslessNumber(token)),
    onDuplicateKey: (info) => info.newValue, // The last one counts, as in JSON.parse.
  }) as Json;
}

/** Parses JSON as `parseJson` does; undefined for a text that is not JSON, or nested too deep. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Parses the text of an object as `parseJson` does; any other value yields an object without members. */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

/** Writes a value for a person: a text without quotes. */
export const plainJson = (value: Json): string => (typeof value === 'string' ? value : compactJson(value));

/** Writes JSON without spaces, every number as it was received. */
export function compactJson(value: Json): string {
  return hasLossless(value) ? (stringify(value) ?? 'null') : JSON.stringify(value);
}

/** JSON.stringify is five times as fast, and right for all but the numbers that it cannot know. */
function hasLossless(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof LosslessNumber) return true;
  return hasMember(value, hasLossless);
}

/** Writes JSON so that equal values have equal texts: keys sorted, numbers at their shortest. */
export function canonicalJson(value: Json): string {
  if (isNumber(value)) {
    const isPlain = typeof value === 'number' && value >= 0 && Number.isSafeInteger(value); // Nearly every one.
    return isPlain ? String(value) : (canonicalNumber(String(value)) ?? String(value));
  }
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value);
  if (!isSameOrder(names, lastObject.names))
    lastObject = {
      names,
      openings: names.toSorted().map((name) => [name, `${JSON.stringify(name)}:`] as const),
    };
  let members = '';
  for (const [name, opening] of lastObject.openings)
    members += `${members === '' ? '' : ','}${opening}${canonicalJson(value[name] ?? null)}`;
  return `{${members}}`;
}

/**
 * The names of the last object, and these sorted, each with the text before its value: the objects of a nested array nearly all
 * have the same.
 */
let lastObject: {
  readonly names: readonly string[];
  readonly openings: readonly (readonly [name: string, text: string])[];
} = { names: [], openings: [] };

/** Whether two objects name the same members in the same order. */
export function isSameOrder(names: readonly string[], others: readonly string[]): boolean {
  let at = 0;
  for (const name of names) if (name !== others[at++]) return false;
  return at === others.length;
}

/** Values nested deeper are kept from all recursive code, because the stack might overflow. */
export const MAX_DEPTH = 64;

/** Whether a value is nested deeper than `levels`; recurses no deeper than that. */
export function isNestedDeeper(value: Json, levels: number): boolean {
  if (!isArray(value) && !isObject(value)) return false;
  return levels === 0 || hasMember(value, isNestedDeeper, levels - 1);
}

/** Whether the predicate holds for a nested member; copies nothing, because this runs for every record. */
function hasMember(
  value: readonly Json[] | JsonObject,
  predicate: (member: Json, levels: number) => boolean,
  levels = 0,
): boolean {
  if (isArray(value)) return value.some((member) => predicate(member, levels));
  for (const name in value) {
    const member = value[name];
    if (typeof member === 'object' && member !== null && predicate(member, levels)) return true;
  }
  return false;
}

export function isNumber(value: Json | undefined): value is number | LosslessNumber {
  return typeof value === 'number' || value instanceof LosslessNumber;
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

const NUMBER = /^\d+$/;

/**
 * Returns the items of an array, or of the object that PHP writes for an array with gaps: `{"0":{…},"2":{…}}`; null for any other
 * value.
 */
export function arrayItems(value: Json | undefined): readonly Json[] | null {
  if (isArray(value)) return value;
  if (!isObject(value)) return null;
  const members = Object.entries(value);
  const isList = members.every(([name, item]) => NUMBER.test(name) && (isObject(item) || isArray(item)));
  return isList && members.length > 0 ? members.map(([, item]) => item) : null;
}
