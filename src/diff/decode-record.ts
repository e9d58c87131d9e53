import type { Field, Kind } from '../catalog/kind.ts';
import {
  compactJson,
  canonicalJson,
  isNumber,
  arrayItems,
  type Json,
  type JsonObject,
} from '../lib/json/json.ts';
import { isStorable, truncate } from '../lib/text/text.ts';
import { padToScale, decimalPlaces, canonicalNumber } from '../lib/json/decimal.ts';
import { END_OF_DAY, isCalendarDate, isClockTime, readClockTime } from '../lib/time/clock.ts';

/** The value of a column: 64-bit integers and decimals travel as text. */
export type ColumnValue = string | number | null;

export type MisfitCode =
  | 'not_an_integer'
  | 'not_a_flag'
  | 'not_a_decimal'
  | 'more_places'
  | 'not_a_date'
  | 'not_a_time'
  | 'not_a_timestamp'
  | 'not_text'
  | 'unstorable_text';

interface DecodedRecord {
  /** One value for each of `kind.fields`, in that order. */
  readonly values: readonly ColumnValue[];
  /** `detail`: the value as received, shortened. */
  readonly misfits: readonly { readonly field: string; readonly code: MisfitCode; readonly detail: string }[];
}

const DETAIL_LENGTH = 200;

/** Makes the decoder of a kind's records. A value that fits no rule costs a null and a misfit, never the row. */
export function createRecordDecoder(kind: Pick<Kind, 'fields'>): (record: JsonObject) => DecodedRecord {
  const columns = kind.fields.map((field) => ({
    field,
    decoder: field.refersTo === undefined ? DECODERS[field.type] : reference,
  }));
  let misfits = NO_MISFITS;
  let misfitValues = NOTHING_LOST;
  const onMisfit = ({ name }: Field, code: MisfitCode, value: Json): void => {
    misfits = [...misfits, { field: name, code, detail: truncate(compactJson(value), DETAIL_LENGTH) }];
    if (code !== 'more_places') misfitValues = new Map(misfitValues).set(name, value);
  };
  return (record) => {
    misfits = NO_MISFITS;
    misfitValues = NOTHING_LOST;
    const values: ColumnValue[] = [];
    // A column of texts stands behind the field whose misfits it keeps.
    for (const { field, decoder } of columns)
      values.push(
        field.textOf === undefined
          ? decodeField(field, ownValue(record, field.name), onMisfit, decoder)
          : misfitText(misfitValues.get(field.textOf)),
      );
    return { values, misfits };
  };
}

/** Nearly every record fits: no list is made for such a record. */
const NO_MISFITS: DecodedRecord['misfits'] = [];
const NOTHING_LOST: ReadonlyMap<string, Json> = new Map();

/** A lost value as text, JSON but for a string; null for an empty string and for text that no database can store. */
function misfitText(value: Json | undefined): string | null {
  if (value === undefined || value === '') return null;
  const text = typeof value === 'string' ? value : compactJson(value);
  return isStorable(text) ? text : null;
}

/** A member that the record itself has: never `constructor` and its like from the prototype. */
export function ownValue(record: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Called with each value that violates its field's rules; the column is then null (but for `more_places`, which keeps it). */
type OnMisfit = (field: Field, code: MisfitCode, value: Json) => void;

type Decoder = (value: Exclude<Json, null>, field: Field) => ColumnValue | Misfit;

interface Misfit {
  readonly code: MisfitCode;
  readonly columnValue: ColumnValue;
}

/** Reads a JSON value by its field's type. Absent, null and invalid values are null. */
export function decodeField(
  field: Field,
  value: Json | undefined,
  onMisfit: OnMisfit,
  decoder = DECODERS[field.type],
): ColumnValue {
  if (value === undefined || value === null) return null;
  const decoded = decoder(value, field);
  if (!isMisfit(decoded)) return decoded;
  onMisfit(field, decoded.code, value);
  return decoded.columnValue;
}

/** The value by its field's type; undefined where it violates the rules, unless by nothing but too many places. */
export function decodeIfFits(field: Field, value: Json | undefined): ColumnValue | undefined {
  if (value === undefined || value === null) return null;
  const decoded = DECODERS[field.type](value, field);
  if (!isMisfit(decoded)) return decoded;
  return decoded.code === 'more_places' ? decoded.columnValue : undefined;
}

const isMisfit = (decoded: ColumnValue | Misfit): decoded is Misfit =>
  typeof decoded === 'object' && decoded !== null;

const misfit = (code: MisfitCode, columnValue: ColumnValue = null): Misfit => ({ code, columnValue });

const POINT = '.'.charCodeAt(0);
const CANONICAL = /^(?:0|-?[1-9]\d{0,30})\.\d{1,10}$/;
const LONGEST_DECIMAL = 1000; // PostgreSQL's numeric has a limit that no amount of money reaches.
const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
const LARGEST = 2n ** 63n - 1n;

const DECODERS: Record<Field['type'], Decoder> = {
  integer: (value) => {
    if (typeof value === 'number') return Object.is(value, -0) ? misfit('not_an_integer') : value;
    const token = tokenOf(value);
    if (token === null || !INTEGER.test(token)) return misfit('not_an_integer');
    if (token.length < 19) return token;
    const integer = BigInt(token);
    return integer > LARGEST || integer < -LARGEST - 1n ? misfit('not_an_integer') : token;
  },

  flag: (value) => {
    if (value === 1 || value === '1' || value === true) return 1;
    if (value === 0 || value === '0' || value === false) return 0;
    return misfit('not_a_flag');
  },

  decimal: (value, field) => {
    if (isBlank(value)) return null;
    const token = tokenOf(value);
    if (token !== null && isCanonical(token, field.scale)) return token;
    const shortest = token === null ? null : canonicalNumber(token);
    if (shortest === null || shortest.length > LONGEST_DECIMAL) return misfit('not_a_decimal');
    const scale = field.scale ?? 0;
    return field.scale !== undefined && decimalPlaces(shortest) > scale
      ? misfit('more_places', shortest)
      : padToScale(shortest, scale);
  },

  date: (value) => {
    if (isBlank(value)) return null;
    const date = typeof value === 'string' && value.length > 10 ? splitInstant(value)?.date : value;
    return typeof date === 'string' && isCalendarDate(date) ? date : misfit('not_a_date');
  },

  time: (value) => {
    if (isBlank(value)) return null;
    if (typeof value !== 'string') return misfit('not_a_time');
    const time = isClockTime(value) ? value : readClockTime(value);
    return time === END_OF_DAY ? MIDNIGHT : (time ?? misfit('not_a_time'));
  },

  timestamp: (value) => {
    if (isBlank(value)) return null;
    const { date = '', time = END_OF_DAY } = (typeof value === 'string' ? splitInstant(value) : null) ?? {};
    // The end of a day would be the next date.
    return isCalendarDate(date) && time !== END_OF_DAY ? `${date} ${time}` : misfit('not_a_timestamp');
  },

  text: (value) => {
    const token = typeof value === 'boolean' ? String(value) : tokenOf(value);
    if (token === null) return misfit('not_text');
    return isStorable(token) ? token : misfit('unstorable_text');
  },

  json: (value, { isObject }) => {
    const text = canonicalJson(isObject === true ? value : (arrayItems(value) ?? value));
    return text.includes('\\u') && UNSTORABLE_ESCAPE.test(text) ? misfit('unstorable_text') : text; // A view splits such text again.
  },
};

/** An id, and 0 for none; where the service sends ids as texts, an empty one names no record either. */
const reference: Decoder = (value, field) =>
  value === '' && field.type === 'text' ? null : DECODERS.integer(value, field);

/** A decimal as the service writes nearly all: with exactly the documented places. */
function isCanonical(token: string, scale = 0): boolean {
  return scale > 0 && token.charCodeAt(token.length - 1 - scale) === POINT && CANONICAL.test(token);
}

/** How the service writes "none" in dates, times and decimals (seen in the wild). */
export const NO_DAY: ReadonlySet<Json> = new Set(['0000-00-00', '0000-00-00 00:00:00']);

const isBlank = (value: Json): boolean => value === '' || NO_DAY.has(value);

const MIDNIGHT = '00:00:00';

/** The date and the time of an instant without a zone; null for any other text: with a zone, it may be another day here. */
function splitInstant(text: string): { readonly date: string; readonly time: string } | null {
  const time = /^[ T]$/.test(text.charAt(10)) ? readClockTime(text.slice(11)) : null;
  return time === null ? null : { date: text.slice(0, 10), time };
}

// JSON writes a NUL and half a character as escapes; an escaped backslash before "u0000" does not escape NUL.
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function tokenOf(value: Json): string | null {
  if (typeof value === 'string') return value;
  return isNumber(value) ? String(value) : null;
}
