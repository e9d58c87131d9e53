import { StringChunk, sql, type SQL, type SQLChunk } from 'drizzle-orm';

/**
 * The values of an `in (…)`, as parameters. The last one is repeated up to a power of two: a compiled statement is kept for each
 * text, and a query would have as many texts as its list has lengths.
 */
export function sqlList(values: readonly (string | number)[]): SQL {
  const length = values.length === 0 ? 0 : 2 ** Math.ceil(Math.log2(values.length));
  return joinWithCommas(Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)]));
}

const COMMA = new StringChunk(', ');

/** The parts themselves, not a statement around each: building a list of hundreds would take longer than running it. */
export const joinWithCommas = (parts: readonly SQLChunk[]): SQL => sql.join([...parts], COMMA);
