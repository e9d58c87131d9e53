import { isArray, isNumber, isObject } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';

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
