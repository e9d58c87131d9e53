const digits = (count: number): string => (count === 0 ? '' : count === 1 ? '[0-9]' : `[0-9]{${count}}`);

/**
 * A pattern of the whole numbers from 1 to `largest`, which is given by its digits: JSON Schema has no other way to bound a
 * number in a text.
 */
export function patternUpTo(largest: string): string {
  const shorter = largest.length < 2 ? [] : [`[1-9][0-9]{0,${largest.length - 2}}`];
  const belowAt = Array.from(largest, (digit, place) => {
    const [least, most] = [place === 0 ? 1 : 0, Number(digit) - 1];
    if (most < least) return null;
    const range = least === most ? String(least) : `[${least}-${most}]`;
    return `${largest.slice(0, place)}${range}${digits(largest.length - place - 1)}`;
  });
  return [...shorter, ...belowAt.filter((one) => one !== null), largest].join('|');
}

/** The largest integer of 64 bits. */
export const LARGEST_INTEGER = '9223372036854775807';
const LEAST_INTEGER = '-9223372036854775808';

/** Placeholders for these bounds, which JS numbers cannot hold exactly. */
export const LARGEST_BOUND = Number(LARGEST_INTEGER);
export const LEAST_BOUND = Number(LEAST_INTEGER);

/** Writes a document with the exact bounds in place of the placeholders. */
export function writtenExactly(document: unknown): string {
  return JSON.stringify(document)
    .replaceAll(JSON.stringify(LEAST_BOUND), LEAST_INTEGER)
    .replaceAll(JSON.stringify(LARGEST_BOUND), LARGEST_INTEGER);
}
