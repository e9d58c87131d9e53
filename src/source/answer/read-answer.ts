import { isObject } from '../../lib/json/json.ts';
import { parseUrl } from '../../lib/net/parse-url.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { openList, openRecord, parseBody } from './envelope.ts';
import type { ListBody } from './envelope.ts';
import { SourceError, excerpt } from '../http/errors.ts';
import type { SourceReason } from '../http/errors.ts';
import type { Received } from '../http/http.ts';
import { retryAfterMs } from '../../lib/time/retry-after.ts';

/** @throws {SourceError} Where the answer is no list. */
export function readList(answer: Received): ListBody {
  refuseFault(answer);
  return openList(parseBody(answer.bytes, answer.where), answer.where);
}

/**
 * Creates the reader for the record with this id; it returns null if the service itself says that there is none.
 *
 * @throws {SourceError} If the answer is neither.
 */
export function readRecord(id: string): (answer: Received) => JsonObject | null {
  return (answer) => {
    refuseCached(answer);
    if (saysGone(answer)) return null;
    refuseFault(answer);
    return openRecord(parseBody(answer.bytes, answer.where), id, answer.where);
  };
}

/** 404 or 410 with a JSON object that shows no record: a proxy or a wrong base URL would answer with a web page. */
function saysGone(answer: Received): boolean {
  if (answer.status !== 404 && answer.status !== 410) return false;
  try {
    const body = parseBody(answer.bytes, answer.where);
    return isObject(body) && body['success'] !== true && !isObject(body['data']) && !('id' in body);
  } catch (error) {
    if (error instanceof SourceError) return false; // Not the service's own words.
    throw error;
  }
}

/** @throws {SourceError} If the answer is not the service's own, or reports a failure. */
export function refuseFault(answer: Received): void {
  const { status, headers, where } = answer;
  if (!isSuccess(status)) throw statusFault(answer);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new SourceError('not_json', `${where}: got content-encoding ${String(encoding)}, expected none`);
  }
  refuseCached(answer);
}

const WORDS: Readonly<Record<number, SourceReason>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
};

/** The service asks for fewer requests: an answer, so it is not away. */
const TOO_MANY = 429;

/** Client errors that are temporary. */
const PASSING: ReadonlySet<number> = new Set([408, 425, TOO_MANY]);

/** Longer than a message quotes, so that it holds any secret in full. */
const STATUS_TEXT_BYTES = 16_384;

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Names the fault behind a status other than 2xx. */
function statusFault({ status, headers, bytes, where, receivedAt }: Received): SourceError {
  const text = new TextDecoder().decode(bytes.subarray(0, STATUS_TEXT_BYTES));
  const got = `${where}: got status ${status}`;
  if (status >= 500 || PASSING.has(status)) {
    const waitMs = retryAfterMs(headers['retry-after'], receivedAt);
    const details = { passing: { waitMs }, quoted: text };
    if (status === TOO_MANY)
      return new SourceError('rate_limited', `${got} (too many requests), ${shown(text)}`, details);
    return new SourceError('unavailable', `${got}, ${shown(text)}`, details);
  }
  if (status >= 300 && status < 400) {
    return new SourceError(
      'redirected',
      `${got} to ${hostOf(String(headers['location'] ?? ''))}, expected the answer itself`,
    );
  }
  return new SourceError(WORDS[status] ?? 'rejected', `${got}, ${shown(text)}`, { quoted: text });
}

function shown(text: string): string {
  return text.trim() === '' ? 'without a body' : excerpt(text);
}

/** Only the host: the rest of a redirect's address may hold secrets. */
function hostOf(location: string): string {
  return parseUrl(location)?.host ?? 'another path';
}

/** Headers in which a cache says that it answered in place of the service. */
const CACHE_HEADERS = ['x-cache', 'x-cache-status', 'cf-cache-status', 'x-proxy-cache'] as const;

/**
 * Refuses a cached answer: it may be older than one that has landed, and would undo newer facts.
 *
 * @throws {SourceError} cached
 */
export function refuseCached({ headers, where }: Pick<Received, 'headers' | 'where'>): void {
  const hit = CACHE_HEADERS.find((name) => /\bhit\b/i.test(String(headers[name] ?? '')));
  const age = Number(headers['age'] ?? 0);
  if (hit === undefined && !(age > 0)) return;
  const got = hit === undefined ? `age ${age}` : `${hit} ${String(headers[hit])}`;
  const message = `${where}: got an answer from a cache (${got}), expected the service's own`;
  throw new SourceError('cached', message, { passing: { waitMs: null } });
}
