import { Big } from 'big.js';

const STRICT = /^-?\d+(?:\.\d+)?$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE]([+-]?\d{1,4}))?$/;
const LARGEST_EXPONENT = 400; // A JSON number beyond it would cost a page of zeros.

/**
 * Reads decimal text in the one grammar that is unmistakable: `-?digits(.digits)?`.
 *
 * @returns The shortest text of the same value (`-00.50` → `-0.5`, `-0.0` → `0`), or null where the text is no such number.
 */
export function shortestDecimal(text: string): string | null {
  return STRICT.test(text) ? shorten(text) : null;
}

/** Reads a JSON number token, exponent included, without passing through a float; null beyond ±400 places. */
export function shortestNumber(token: string): string | null {
  const match = NUMBER.exec(token);
  if (!match) return null;
  if (match[1] === undefined) return shorten(token);
  return Math.abs(Number(match[1])) > LARGEST_EXPONENT ? null : shorten(new Big(token).toFixed());
}

/** The digits of a JSON number that is whole however it is written (`7`, `7.0`, `7e2`); null for any other. */
export function wholeText(token: { toString(): string }): string | null {
  const shortest = shortestNumber(String(token));
  return shortest === null || shortest.includes('.') ? null : shortest;
}

/** Pads a shortest decimal to `scale` places; a value with more places keeps them all. */
export function atScale(shortest: string, scale: number): string {
  const places = decimalPlaces(shortest);
  if (places >= scale) return shortest;
  return `${shortest}${places === 0 ? '.' : ''}${'0'.repeat(scale - places)}`;
}

export function decimalPlaces(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

function shorten(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const [digits = '', places = ''] = text.slice(sign.length).split('.');
  const whole = digits.replace(/^0+(?=\d)/, '');
  let end = places.length; // By hand: a pattern for the zeros at the end would try every run of zeros.
  while (places[end - 1] === '0') end--;
  const fraction = places.slice(0, end);
  const value = fraction === '' ? whole : `${whole}.${fraction}`;
  return value === '0' ? '0' : sign + value;
}
