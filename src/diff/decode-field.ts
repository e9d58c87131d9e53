import type { Field } from '../catalog/kind.ts';
import { atScale, decimalPlaces, shortestNumber } from '../lib/decimal.ts';
import { canonicalJson, isNumber } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';
import { isStorable } from '../lib/text.ts';
import { isCalendarDate, isClockTime } from './calendar.ts';

/** The value of a column: 64-bit integers and decimals travel as text. */
export type SqlValue = string | number | null;

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

/**
 * Called with each value that violates its field's rules; the column is then null (but for `more_places`, which keeps
 * it).
 */
type OnMisfit = (field: Field, code: MisfitCode, value: Json) => void;

type Decoder = (value: Exclude<Json, null>, field: Field) => SqlValue | Misfit;

interface Misfit {
  readonly code: MisfitCode;
  readonly kept: SqlValue;
}

/**
 * Reads a JSON value by its field's type. Absent and null values are null, and so is a value that violates the rules.
 */
export function decodeField(field: Field, value: Json | undefined, onMisfit: OnMisfit): SqlValue {
  return decodingAs(DECODERS[field.type], field)(value, onMisfit);
}

/** Makes the decoder of a field's column, which for a reference is that of an id. */
export function columnDecoder(field: Field): (value: Json | undefined, onMisfit: OnMisfit) => SqlValue {
  const decoder = field.refersTo === undefined ? DECODERS[field.type] : reference;
  return decodingAs(decoder, field);
}

function decodingAs(
  decoder: Decoder,
  field: Field,
): (value: Json | undefined, onMisfit: OnMisfit) => SqlValue {
  return (value, onMisfit) => {
    if (value === undefined || value === null) return null;
    const decoded = decoder(value, field);
    if (typeof decoded !== 'object' || decoded === null) return decoded;
    onMisfit(field, decoded.code, value);
    return decoded.kept;
  };
}

const misfit = (code: MisfitCode, kept: SqlValue = null): Misfit => ({ code, kept });

const POINT = '.'.charCodeAt(0);
const LONGEST_DECIMAL = 1000; // PostgreSQL's numeric ends somewhere; no money does.
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
    const shortest = token === null ? null : shortestNumber(token);
    if (shortest === null || shortest.length > LONGEST_DECIMAL) return misfit('not_a_decimal');
    const scale = field.scale ?? 0;
    return field.scale !== undefined && decimalPlaces(shortest) > scale
      ? misfit('more_places', shortest)
      : atScale(shortest, scale);
  },

  date: (value) => {
    if (isBlank(value)) return null;
    return typeof value === 'string' && isCalendarDate(value) ? value : misfit('not_a_date');
  },

  time: (value) => {
    if (isBlank(value)) return null;
    if (typeof value !== 'string') return misfit('not_a_time');
    const time = value.length === 5 ? `${value}:00` : value;
    return isClockTime(time) ? time : misfit('not_a_time');
  },

  timestamp: (value) => {
    if (isBlank(value) || value === '0000-00-00 00:00:00') return null;
    if (typeof value !== 'string' || !/^[ T]$/.test(value.charAt(10))) return misfit('not_a_timestamp');
    const [date, time] = [value.slice(0, 10), value.slice(11)];
    return isCalendarDate(date) && isClockTime(time) ? `${date} ${time}` : misfit('not_a_timestamp');
  },

  text: (value) => {
    const token = typeof value === 'boolean' ? String(value) : tokenOf(value);
    if (token === null) return misfit('not_text');
    return isStorable(token) ? token : misfit('unstorable_text');
  },

  json: (value) => {
    const text = canonicalJson(value);
    return UNSTORABLE_ESCAPE.test(text) ? misfit('unstorable_text') : text; // A view splits such text again.
  },
};

/** An id, and 0 for none; where the service sends ids as texts, an empty one names no record either. */
const reference: Decoder = (value, field) =>
  value === '' && field.type === 'text' ? null : DECODERS.integer(value, field);

const CANONICAL = /^(?:0|-?[1-9]\d{0,30})\.\d{1,10}$/;

/** A decimal as the service writes nearly all: with exactly the documented places. */
function isCanonical(token: string, scale: number | undefined): boolean {
  return (
    scale !== undefined &&
    scale > 0 &&
    token.charCodeAt(token.length - 1 - scale) === POINT &&
    CANONICAL.test(token)
  );
}

/** How the service writes "none" in dates, times and decimals (seen in the wild). */
function isBlank(value: Json): boolean {
  return value === '' || value === '0000-00-00';
}

// JSON writes a NUL and half a character as escapes; an escaped backslash before "u0000" is another matter.
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function tokenOf(value: Json): string | null {
  if (typeof value === 'string') return value;
  return isNumber(value) ? String(value) : null;
}
