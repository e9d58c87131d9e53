import type { CustomTypesConfig } from 'pg';
import type { SqlValue } from '../session/session.ts';

type Parser = (text: string) => SqlValue;

const TIMESTAMPTZ = /^(\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00( BC)?$/;

/** An integer beyond what a JS number holds exactly travels as text. */
function integer(text: string): SqlValue {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** An instant as the mirror writes it: the session's zone is UTC, so that only the places differ. */
function instant(text: string): string {
  const [, second, fraction = '', era = ''] = TIMESTAMPTZ.exec(text) ?? [];
  return second === undefined ? text : `${second}.${fraction.padEnd(3, '0').slice(0, 3)}${era}`;
}

/** Parsers by the oid of the type in pg_type; values of all other types stay PostgreSQL's text. */
const PARSERS: ReadonlyMap<number, Parser> = new Map([
  [16, (text: string) => (text === 't' ? 1 : 0)], // boolean: SQLite has none either.
  [20, integer], // bigint
  [21, integer], // smallint
  [23, integer], // integer
  [26, integer], // oid
  [700, Number], // real
  [701, Number], // double precision
  [1184, instant], // timestamptz
]);

/** Parsers that make PostgreSQL's driver return the same values as SQLite; its own would return dates. */
export const TYPE_PARSERS: CustomTypesConfig = {
  getTypeParser: (type: number) => PARSERS.get(type) ?? ((text: string) => text),
};

const NEEDS_ESCAPE = /["\\]/g;
/** In these texts JSON escapes the two characters that an array literal escapes, and no other; it is three times as quick. */
const ESCAPED_AS_JSON = /^[^\0-\x1f]*$/;

/** Writes a column of values as one array parameter. */
export function arrayLiteral(values: readonly SqlValue[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const isPlain = !value.includes('"') && !value.includes('\\'); // Nearly always, and much quicker to see than to replace.
  if (isPlain) return `"${value}"`;
  if (ESCAPED_AS_JSON.test(value) && value.isWellFormed()) return JSON.stringify(value);
  return `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`;
}
