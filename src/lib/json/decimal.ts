import { Big } from 'big.js';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const LARGEST_EXPONENT = 400; // A number beyond it would cost a page of zeros.

/**
 * The shortest text of a decimal `-?digits(.digits)?(e±digits)?` (`-00.50` → `-0.5`, `-0.0` → `0`, `1E+3` → `1000`), never as a
 * float; null if the text is not such a number, or its exponent is beyond ±400.
 */
export function canonicalNumber(token: string): string | null {
  const [, sign = '', whole, fraction = '', power = '0'] = NUMBER.exec(token) ?? [];
  const exponent = Number(power);
  if (whole === undefined || Math.abs(exponent) > LARGEST_EXPONENT) return null;
  const digits = whole + fraction;
  const point = whole.length + exponent; // Its place among the digits; it may be before or behind them all.
  const beforePoint = digits.slice(0, Math.max(0, point)).padEnd(point, '0').replace(/^0+/, '') || '0';
  const afterPoint = point < 0 ? '0'.repeat(-point) + digits : digits.slice(point);
  let end = afterPoint.length; // A loop: a regular expression for trailing zeros would try every run of zeros.
  while (afterPoint[end - 1] === '0') end--;
  const value = end === 0 ? beforePoint : `${beforePoint}.${afterPoint.slice(0, end)}`;
  return value === '0' ? '0' : sign + value;
}

/** The digits of a JSON number that is whole however it is written (`7`, `7.0`, `7e2`); null for any other. */
export function wholeNumberText(token: { toString(): string }): string | null {
  const shortest = canonicalNumber(String(token));
  return shortest === null || shortest.includes('.') ? null : shortest;
}

/** Pads a shortest decimal to `scale` places; a value with more places keeps them all. */
export function padToScale(shortest: string, scale: number): string {
  const places = decimalPlaces(shortest);
  if (places >= scale) return shortest;
  return `${shortest}${places === 0 ? '.' : ''}${'0'.repeat(scale - places)}`;
}

/** Whether one shortest decimal is less than another. */
export function isLessThan(one: string, other: string): boolean {
  const scale = Math.max(decimalPlaces(one), decimalPlaces(other));
  const units = (text: string): bigint => BigInt(padToScale(text, scale).replace('.', ''));
  return units(one) < units(other);
}

export function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

/** A float that is written with no more digits than these has none that it made up. */
const EXACT_DIGITS = 15;
/** The digits that sums of floats keep. */
const KEPT_DIGITS = 12;
/** The largest difference between two equal float sums; smaller than the precision of any amount. */
const NOISE_PLACES = 9;

/**
 * Rounds a number that has more digits than a float keeps and, as sums of floats do, more places than amounts have: those of its
 * field, or four. These places stay, and twelve digits. Close to 0 the digits are noise: with more than twelve places it is
 * rounded to nine. Null for any other text: a long amount is exact.
 */
export function roundFloatNoise(token: string, scale = 4): string | null {
  const number = canonicalNumber(token);
  const amountPlaces = Math.max(scale, 4);
  const places = number === null ? 0 : decimalPlaces(number);
  if (number === null || places <= amountPlaces) return null;
  const exact = new Big(number);
  const rounded = exact.round(NOISE_PLACES);
  const hasManyDigits = number.replace(/^-?[0.]*|\./g, '').length > EXACT_DIGITS;
  if (places > KEPT_DIGITS && (!hasManyDigits || rounded.eq(0))) return canonicalNumber(rounded.toFixed());
  const kept = Math.max(amountPlaces, KEPT_DIGITS - 1 - exact.e);
  return hasManyDigits ? canonicalNumber(exact.round(kept).toFixed()) : null;
}
