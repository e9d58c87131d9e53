import {
  DEEPEST,
  compactJson,
  isArray,
  isDeeper,
  isNumber,
  isObject,
  parseJson,
} from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { storable } from '../../lib/text/text.ts';
import { shortestNumber } from '../../lib/json/decimal.ts';
import { excerpt, SourceError } from '../http/errors.ts';
import type { SourceReason } from '../http/errors.ts';

/** The paging facts of a list (§2.1); null for each that is not usable. */
export interface Meta {
  readonly currentPage: number | null;
  readonly lastPage: number | null;
  readonly perPage: number | null;
  readonly total: number | null;
}

/** The facts of a list without `meta`. */
export const NO_META: Meta = { currentPage: null, lastPage: null, perPage: null, total: null };

export interface ListBody {
  readonly records: readonly Json[];
  readonly meta: Meta | null;
  /** How the records were wrapped: the names beside `data`, or `array` for a bare array. */
  readonly envelope: string;
}

/**
 * Takes a list apart: `{data: […], meta?, success?}`, or a bare array.
 *
 * @throws {SourceError} success_false, data_not_a_list, bad_meta
 */
export function openList(body: Json, where: string): ListBody {
  if (isArray(body)) return { records: body, meta: null, envelope: 'array' };
  refuseFailure(body, where);
  const data = isObject(body) ? body['data'] : undefined;
  if (!isArray(data))
    throw fault('data_not_a_list', where, { got: data ?? body, expected: 'an array in "data"' });
  const members = isObject(body) ? body : {};
  const envelope = storable(Object.keys(members).sort().join(' '));
  return { records: data, meta: readMeta(members['meta'], where), envelope };
}

/**
 * Takes one record out of its wrapping: `{data: {…}}`, `{data: [{…}]}` or bare.
 *
 * @returns null for an empty `data` array, the service's way of saying that there is none.
 * @throws {SourceError} success_false, wrong_record
 */
export function openRecord(body: Json, id: string, where: string): JsonObject | null {
  refuseFailure(body, where);
  const data = unwrap(body);
  if (isArray(data) && data.length === 0) return null;
  const record = isArray(data) && data.length === 1 ? (data[0] ?? null) : data;
  if (isObject(record) && idText(record['id']) === id) return record;
  const got = isObject(record) ? { id: record['id'] ?? null } : record;
  throw fault('wrong_record', where, { got, expected: `the record with id ${id}` });
}

/** The value of `data`; a bare record is recognised by its `id`. */
export function unwrap(body: Json): Json {
  if (!isObject(body) || 'id' in body) return body;
  return body['data'] ?? body;
}

/** An id as text, however it was sent: `7`, `7.0` and `"7"` are one id; null where it is none. */
function idText(id: Json | undefined): string | null {
  if (isNumber(id)) return shortestNumber(String(id));
  return typeof id === 'string' ? id : null;
}

const DIGITS = /^\d{1,15}$/;
const MOST = 10 ** 15 - 1;

/** The values of `success` that mean failure. */
const FAILURES: readonly Json[] = [false, 'false', 0, '0'];

/** Whether the service itself reports a failure. */
export function saysFailed(body: Json): boolean {
  return isObject(body) && FAILURES.some((failure) => failure === body['success']);
}

function refuseFailure(body: Json, where: string): void {
  if (saysFailed(body)) {
    throw fault('success_false', where, { got: body, expected: '"success" not to be false' });
  }
}

function readMeta(meta: Json | undefined, where: string): Meta | null {
  // An empty array is how PHP writes an empty object.
  if (meta === undefined || meta === null || (isArray(meta) && meta.length === 0)) return null;
  if (!isObject(meta)) throw fault('bad_meta', where, { got: meta, expected: 'an object in "meta"' });
  return {
    currentPage: count(meta['current_page'], 1),
    lastPage: count(meta['last_page'], 1),
    perPage: count(meta['per_page'], 0),
    total: count(meta['total'], 0),
  };
}

/** A whole number from `least` up, sent as a number or as text; null for any other value. */
function count(value: Json | undefined, least: number): number | null {
  const number = typeof value === 'number' && Number.isSafeInteger(value) ? value : numberIn(value);
  return number === null || number < least || number > MOST ? null : number;
}

/** Reads digits, or a number that came with a fraction or an exponent. */
function numberIn(value: Json | undefined): number | null {
  const text = isNumber(value) ? shortestNumber(String(value)) : value;
  return typeof text === 'string' && DIGITS.test(text) ? Number(text) : null;
}

function fault(
  reason: SourceReason,
  where: string,
  { got, expected }: { got: Json; expected: string },
): SourceError {
  const quoted = isDeeper(got, DEEPEST) ? 'JSON nested deep' : compactJson(got);
  return new SourceError(reason, `${where}: got ${excerpt(quoted)}, expected ${expected}`, { quoted });
}

/**
 * Parses a body as UTF-8 JSON, and refuses a body that would have to be guessed.
 *
 * @throws {SourceError} not_utf8, empty_body, html, not_json, too_deep
 */
export function parseBody(bytes: Uint8Array, where: string): Json {
  const text = decodeUtf8(bytes, where);
  if (text.trim() === '') throw new SourceError('empty_body', `${where}: got an empty body, expected JSON`);
  return parse(text, where);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SourceError('not_utf8', `${where}: got bytes that are no UTF-8`, { cause: error });
  }
}

function parse(text: string, where: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SourceError('too_deep', `${where}: got JSON nested too deep to be parsed`, { cause: error });
    }
    if (!(error instanceof SyntaxError)) throw error;
    const reason = text.trimStart().startsWith('<') ? 'html' : 'not_json';
    throw new SourceError(reason, `${where}: got ${excerpt(text)}, expected JSON`, { quoted: text });
  }
}
