import type { JsonObject } from '../../lib/json.ts';
import { isObject } from '../../lib/json.ts';
import { openList, openRecord } from './envelope.ts';
import type { ListBody } from './envelope.ts';
import { SourceError } from '../http/errors.ts';
import type { HttpAnswer } from '../http/receive.ts';
import { isSuccess, statusFault } from './judge-status.ts';
import { parseBody } from './parse-body.ts';
import { refuseCached } from './refuse-cached.ts';
import { retryAfterMs } from './retry-after.ts';

/** An answer with the circumstances that its reading needs. */
export interface Received extends HttpAnswer {
  readonly where: string;
  readonly receivedAt: Date;
  /** Runs a reader of this answer, now or later, with the token redacted from errors. */
  readonly withRedactedErrors: <T>(read: () => T) => T;
}

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

/** Longer than a message quotes, so that it holds any secret in full. */
const STATUS_TEXT_BYTES = 16_384;

/** @throws {SourceError} If the answer is not the service's own, or reports a failure. */
export function refuseFault(answer: Received): void {
  const { status, headers, bytes, where, receivedAt } = answer;
  if (!isSuccess(status)) {
    const text = new TextDecoder().decode(bytes.subarray(0, STATUS_TEXT_BYTES));
    const waitMs = retryAfterMs(headers['retry-after'], receivedAt);
    throw statusFault({ status, text, location: String(headers['location'] ?? ''), waitMs }, where);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new SourceError('not_json', `${where}: got content-encoding ${String(encoding)}, expected none`);
  }
  refuseCached(answer);
}
