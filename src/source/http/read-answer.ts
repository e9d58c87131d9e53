import {
  isObject,
  isArray,
  isNumber,
  arrayItems,
  parseJson,
  type JsonObject,
  type Json,
} from '../../lib/json/json.ts';
import { SourceError, type SourceReason } from './errors.ts';
import type { ReceivedAnswer } from './http.ts';
import { retryAfterMs } from '../../lib/time/retry-after.ts';
import { replaceUnstorable } from '../../lib/text/text.ts';
import { canonicalNumber } from '../../lib/json/decimal.ts';

/** @throws {SourceError} If the response is not a list. */
export function readListBody(answer: ReceivedAnswer): ListBody {
  requireSuccess(answer);
  return unwrapList(parseBody(answer.bytes, answer.where), answer.where);
}

/**
 * Creates the reader for the record with this id; it returns null if the service itself answers that there is none.
 * @throws {SourceError} If the answer is neither.
 */
export function recordReader(id: string): (answer: ReceivedAnswer) => JsonObject | null {
  return (answer) => {
    refuseCached(answer);
    // 404 or 410 with a JSON object that shows no record: a proxy or a wrong base URL would answer with a web page.
    const body = [404, 410].includes(answer.status) ? tryParseBody(answer.bytes, answer.where) : undefined;
    if (isObject(body) && body['success'] !== true && !isObject(body['data']) && !('id' in body)) return null;
    requireSuccess(answer);
    return unwrapRecord(parseBody(answer.bytes, answer.where), id, answer.where);
  };
}

/** @throws {SourceError} If the answer is not the service's own, or reports a failure. */
export function requireSuccess(answer: ReceivedAnswer): void {
  const { status, headers, where } = answer;
  if (!isSuccess(status)) throw statusFault(answer);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    const got =
      answer.isCutShort === true
        ? 'a packed body that is cut short'
        : 'a body in an unknown content-encoding';
    throw new SourceError('not_json', `${where}: got ${got}, expected JSON, plain or with gzip`);
  }
  refuseCached(answer);
}

const STATUS_REASONS: Readonly<Record<number, SourceReason>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
};

/** The service asks for fewer requests: an answer, so it is not away. */
const TOO_MANY = 429;

/** Client errors that are temporary. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, TOO_MANY]);

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Headers of a firewall or proxy that refuses a request in place of the service. */
const FIREWALL_HEADERS = ['x-squid-error', 'cf-mitigated', 'x-amzn-waf-action'] as const;

export const isFromFirewall = (headers: ReceivedAnswer['headers']): boolean =>
  FIREWALL_HEADERS.some((name) => headers[name] !== undefined);

function statusFault(received: ReceivedAnswer): SourceError {
  const { status, headers, bytes, where, receivedAt } = received;
  const got = `${where}: got status ${status}`;
  const body = lengthText(bytes);
  if (status >= 500 || TRANSIENT_STATUSES.has(status)) {
    const waitMs = retryAfterMs(headers['retry-after'], receivedAt);
    const details = { waitMs, status };
    if (status === TOO_MANY)
      return new SourceError('rate_limited', `${got} (too many requests), ${body}`, details);
    return new SourceError('unavailable', `${got}, ${body}`, details);
  }
  if (status >= 300 && status < 400) {
    // Only the host: the rest of a redirect's address may hold secrets.
    const host = URL.parse(String(headers['location'] ?? ''))?.host ?? 'another path';
    return new SourceError('redirected', `${got} to ${host}, expected the answer itself`);
  }
  const reason = STATUS_REASONS[status] ?? 'rejected';
  const isBlocked = reason !== 'not_found' && isForeign(headers, bytes);
  return new SourceError(isBlocked ? 'blocked' : reason, `${got}, ${body}`, { status });
}

const lengthText = (bytes: Uint8Array): string =>
  bytes.length === 0 ? 'without a body' : `with a body of ${bytes.length} bytes`;

/** The service answers JSON; any other text comes from a proxy. */
const isForeign = (headers: ReceivedAnswer['headers'], bytes: Uint8Array): boolean =>
  isFromFirewall(headers) || /^\s*[^\s{[]/.test(new TextDecoder().decode(bytes.subarray(0, 1_024)));

/** The headers in which a cache that answers in place of the service says so: `x-cache`, `cf-cache-status`, and others like them. */
const CACHE_HEADER = /cache(?:-status|-remote)?$/;
/** Between any signs, though not of an old answer that the service has confirmed (`TCP_REFRESH_HIT`), nor why it was asked (`fwd=stale`). */
const IS_KEPT = /(?<![a-z=]|refresh_)(?:hit|stale|updating)(?![a-z])/i;

/** Refuses a cached answer: it may be older than one that has landed, and would undo newer facts. @throws {SourceError} cached */
export function refuseCached(received: Pick<ReceivedAnswer, 'headers' | 'where'>): void {
  const { age = '', ...headers } = received.headers;
  const isKept = (name: string): boolean => CACHE_HEADER.test(name) && IS_KEPT.test(String(headers[name]));
  const kept = Object.keys(headers).find(isKept);
  if (kept === undefined && !/[1-9]/.test(String(age))) return; // It may come twice, as may each header.
  const got = kept === undefined ? 'age above 0' : `${kept}: hit or stale`;
  const message = `${received.where}: got an answer from a cache (${got}), expected the service's own`;
  throw new SourceError('cached', message);
}

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
 * Takes a list apart: `{data: […], meta?, success?}`, or a bare array. PHP writes a filtered array as an object whose keys are
 * numbers, and some services send one record alone, or a list within a list: these are lists too.
 * @throws {SourceError} success_false, data_not_a_list, bad_meta
 */
export function unwrapList(body: Json, where: string): ListBody {
  const bare = listRecordsIn(body);
  if (bare !== null)
    return { records: bare, meta: null, envelope: bare === body ? 'array' : `array ${UNUSUAL}` };
  if (isFailureBody(body)) throw failure(body, where);
  const members = isObject(body) ? body : {};
  const { data } = members;
  const records = listRecordsIn(data) ?? (isObject(data) && 'id' in data ? [data] : null);
  if (records === null) throw fault('data_not_a_list', where, data ?? body, 'an array in "data"');
  const names = replaceUnstorable(Object.keys(members).sort().join(' '));
  const envelope = records === data ? names : `${names} ${UNUSUAL}`;
  return { records, meta: readMeta(members['meta'], where), envelope };
}

/** Ends the name of an envelope whose records are in no plain array. */
const UNUSUAL = '(no plain array)';

/** Whether the records of a list are in no plain array. */
export const isUnusualEnvelope = (envelope: string): boolean => envelope.endsWith(UNUSUAL);

/** The records of an array, of an object whose keys are numbers, or of a list of such lists; null where the value is none. */
function listRecordsIn(value: Json | undefined): readonly Json[] | null {
  const items = arrayItems(value);
  if (items === null || arrayItems(items[0]) === null) return items;
  const lists = items.map(arrayItems);
  const records = lists.flatMap((list) => list ?? []);
  return records.length === 0 || lists.includes(null) ? items : records;
}

/**
 * Takes one record out of its wrapping: `{data: {…}}`, `{data: [{…}]}` or bare.
 * @returns Null for an empty `data` array: the service has no such record.
 * @throws {SourceError} success_false, wrong_record
 */
export function unwrapRecord(body: Json, id: string, where: string): JsonObject | null {
  if (isFailureBody(body)) throw failure(body, where);
  const record = singleRecord(body);
  if (isArray(record) && record.length === 0) return null;
  if (isObject(record) && idText(record['id']) === id) return record;
  throw fault('wrong_record', where, record, `the record with id ${id}`);
}

/** The value of `data`; a bare record is recognised by its `id`. */
function unwrapData(body: Json): Json {
  if (!isObject(body) || 'id' in body) return body;
  return body['data'] ?? body;
}

/** The value of `data`, or its only record where it is a list of one. */
export function singleRecord(body: Json): Json {
  const data = unwrapData(body);
  const records = listRecordsIn(data);
  return records?.length === 1 ? (records[0] ?? null) : data;
}

/** An id as text, however it was sent: `7`, `7.0` and `"7"` are one id; null where it is none. */
function idText(id: Json | undefined): string | null {
  if (isNumber(id)) return canonicalNumber(String(id));
  return typeof id === 'string' ? id : null;
}

const DIGITS = /^\d{1,15}$/;

/** The values of `success` that mean failure. */
const FAILURES: readonly Json[] = [false, 'false', 0, '0'];

/** Whether the service itself reports a failure. */
export function isFailureBody(body: Json): boolean {
  return isObject(body) && FAILURES.some((failure) => failure === body['success']);
}

function failure(body: Json, where: string): SourceError {
  return fault('success_false', where, body, '"success" not to be false');
}

function readMeta(meta: Json | undefined, where: string): Meta | null {
  // An empty array is how PHP writes an empty object.
  if (meta === undefined || meta === null || (isArray(meta) && meta.length === 0)) return null;
  if (!isObject(meta)) throw fault('bad_meta', where, meta, 'an object in "meta"');
  return {
    currentPage: parseCount(meta['current_page'], 1),
    lastPage: parseCount(meta['last_page'], 1),
    perPage: parseCount(meta['per_page'], 0),
    total: parseCount(meta['total'], 0),
  };
}

/** A whole number from `least` up, sent as a number or as text; null for any other value. */
function parseCount(value: Json | undefined, least: number): number | null {
  const text = isNumber(value) ? canonicalNumber(String(value)) : value;
  const number = typeof text === 'string' && DIGITS.test(text) ? Number(text) : -1;
  return number < least ? null : number;
}

function fault(reason: SourceReason, where: string, got: Json, expected: string): SourceError {
  return new SourceError(reason, `${where}: got ${describeType(got)}, expected ${expected}`);
}

/** A value's type and length: nothing of its content, which `forget` would have to find wherever messages are kept. */
function describeType(value: Json): string {
  if (isArray(value)) return `an array of ${value.length}`;
  if (isObject(value)) return `an object with ${Object.keys(value).length} members`;
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return value === null ? 'null' : isNumber(value) ? 'a number' : 'a boolean';
}

/** Parses a body as `parseBody` does; undefined where that refuses it. */
export function tryParseBody(bytes: Uint8Array, where: string): Json | undefined {
  try {
    return parseBody(bytes, where);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as UTF-8 JSON, and refuses a body that would have to be guessed.
 * @throws {SourceError} not_utf8, empty_body, html, not_json, too_deep
 */
export function parseBody(bytes: Uint8Array, where: string): Json {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new SourceError('not_utf8', `${where}: got bytes that are no UTF-8`, { cause });
  }
  if (text.trim() === '') throw new SourceError('empty_body', `${where}: got an empty body, expected JSON`);
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new SourceError('too_deep', `${where}: got JSON nested too deep to be parsed`, { cause });
    if (!(cause instanceof SyntaxError)) throw cause;
    const isPage = text.trimStart().startsWith('<');
    const got = isPage ? `a web page of ${bytes.length} bytes` : `${bytes.length} bytes that are not JSON`;
    throw new SourceError(isPage ? 'html' : 'not_json', `${where}: got ${got}, expected JSON`);
  }
}
