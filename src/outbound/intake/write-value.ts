import type { Field, FieldType } from '../../catalog/kind.ts';
import { wholeNumberText } from '../../lib/json/decimal.ts';
import { decodeField, NO_DAY, type MisfitCode } from '../../diff/decode-record.ts';
import {
  MAX_DEPTH,
  compactJson,
  isArray,
  isNestedDeeper,
  isNumber,
  isObject,
  parseJson,
  type Json,
} from '../../lib/json/json.ts';
import { truncate, replaceUnstorable } from '../../lib/text/text.ts';

/** A value in the form that a write of its field accepts, or the fault that prevents it. */
export type WrittenValue = { readonly value: Json; readonly note?: string } | { readonly fault: string };

const EXPECTED: Record<FieldType, string> = {
  integer: 'a whole number of at most 64 bits',
  flag: '0 or 1',
  decimal: 'a decimal number or its text, such as "10.50"',
  date: 'a date that exists, "YYYY-MM-DD"',
  time: 'a time of day, "HH:MM" or "HH:MM:SS"',
  timestamp: 'an instant, "YYYY-MM-DD HH:MM:SS"',
  text: 'a text',
  json: 'an array or an object',
};

const LONGEST_SHOWN = 60;

/** Brings a value into the form that a write of the field takes; numbers keep their digits. */
export function writtenValue(field: Field, input: Json): WrittenValue {
  const digits = field.type === 'integer' && isNumber(input) ? wholeNumberText(input) : null;
  const value = digits === null ? input : parseJson(digits); // JSON has one sort of numbers: 7.0 is the integer 7.
  if (value === null) return { value };
  const misfit = misfitOf(field, value);
  if (misfit === 'unstorable_text')
    return { fault: 'the text holds a character that no database keeps (NUL, or half of a pair)' };
  const note = `has more than the ${field.scale ?? 0} documented places: the service may round it`;
  if (misfit === 'more_places') return { value, note };
  if (misfit !== null) return { fault: `expected ${EXPECTED[field.type]}, got ${valueForMessage(value)}` };
  return spelled(field, value);
}

/** The faults that reading would find with the value, and the faults that matter to writes only. */
function misfitOf(field: Field, value: Exclude<Json, null>): MisfitCode | 'not_writable' | null {
  if (NOT_WRITABLE[field.type]?.(value, field)) return 'not_writable';
  const misfits: MisfitCode[] = [];
  decodeField(field, value, (_field, code) => misfits.push(code));
  return misfits[0] ?? null;
}

/** Makes a rule that a text must fit. */
function isNotSpelled(spelling: RegExp): (value: Json) => boolean {
  return (value) => typeof value === 'string' && !spelling.test(value);
}

/** Faults that a reader tolerates and a write should avoid. */
const NOT_WRITABLE: Partial<Record<FieldType, (value: Json, field: Field) => boolean>> = {
  decimal: (value) => NO_DAY.has(value) || (typeof value === 'string' && /e/i.test(value)),
  date: isNotSpelled(/^.{0,10}$/),
  time: isNotSpelled(/^(?:(?:[01]\d|2[0-3]):\d\d(?::\d\d)?)?$/),
  timestamp: isNotSpelled(/^(?:0000-00-00|.{10}[ T]..:..:..)?$/),
  text: (value) => typeof value === 'boolean',
  // If the elements are documented, a single value is a fault; otherwise the right form is unknown.
  json: (value, { items }) => items !== undefined && !isArray(value) && !isObject(value),
};

function spelled(field: Field, value: Exclude<Json, null>): WrittenValue {
  const form = field.write?.as;
  if (form === 'HH:MM' && typeof value === 'string') return withoutSeconds(value);
  const plain = PLAIN_FORMS[field.type]?.(value) ?? value;
  return { value: form === 'text' && isNumber(plain) ? String(plain) : plain };
}

/** The form of each type in which the documentation shows it; the others are sent as they are given. */
const PLAIN_FORMS: Partial<Record<FieldType, (value: Exclude<Json, null>) => Json>> = {
  integer: (value) => (typeof value === 'string' ? parseJson(value) : value),
  flag: (value) => (value === true || value === 1 || value === '1' ? 1 : 0),
  text: (value) => (isNumber(value) ? String(value) : value),
};

const NO_SECONDS = ':00';

/** Seconds would be lost: the documented form has none. */
function withoutSeconds(time: string): WrittenValue {
  if (time.length < 'HH:MM:SS'.length) return { value: time };
  if (time.endsWith(NO_SECONDS)) return { value: time.slice(0, -NO_SECONDS.length) };
  return { fault: `expected a time without seconds, "HH:MM", as the service takes it; got "${time}"` };
}

/** A value for a message: short, and on one line. */
export function valueForMessage(value: Json): string {
  if (isNestedDeeper(value, MAX_DEPTH)) return 'a value nested too deep to show';
  const text = replaceUnstorable(compactJson(value));
  return text.length > LONGEST_SHOWN ? `${truncate(text, LONGEST_SHOWN - 1)}…` : text;
}
