import { NOT_SHOWN, bodyWithoutExcluded, keepKnownFields } from '../../catalog/exclude.ts';
import type { Kind } from '../../catalog/kind.ts';
import {
  MAX_DEPTH,
  compactJson,
  isNestedDeeper,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
} from '../../lib/json/json.ts';
import { maskSecrets, LONGEST_SPELLING } from '../../lib/text/mask-secrets.ts';
import { truncate, replaceUnstorable } from '../../lib/text/text.ts';
import { isFromFirewall, singleRecord, isFailureBody, tryParseBody } from './read-answer.ts';
import { retryAfterMs } from '../../lib/time/retry-after.ts';
import type { HttpAnswer, UnansweredWrite } from './http.ts';

/** The result of a write: facts without a judgement. */
export type WriteAnswer = UnansweredWrite | AnsweredWrite;

export interface AnsweredWrite {
  readonly is: 'answered';
  readonly status: number;
  /** The body without excluded fields, and with any token it repeats; undefined if it is not usable JSON. Never stored as it is. */
  readonly body: Json | undefined;
  /** The beginning of the body as text that can be stored, without the token. */
  readonly start: string;
  readonly retryAfterMs: number | null;
  /** The id of the new record that `Location` names, if it does. */
  readonly locationId?: string | undefined;
}

const START_LENGTH = 500;
const BYTES_A_CHARACTER = 3; // Of UTF-8, at most, for one unit of UTF-16.

/**
 * Reads any answer to a write. Without Content-Length a body may arrive truncated; it then fails to parse, because its closing
 * brace is missing.
 */
export function readWriteAnswer(
  answer: HttpAnswer,
  about: { readonly kind: Kind; readonly where: string; readonly token: string; readonly receivedAt: Date },
): AnsweredWrite {
  const { status, headers, bytes } = answer;
  const { kind, token } = about;
  const parsed = isFromFirewall(headers) ? undefined : tryParseBody(bytes, about.where); // Its JSON is not the service's.
  const usableBody = parsed === undefined || isNestedDeeper(parsed, MAX_DEPTH) ? undefined : parsed;
  const body = usableBody === undefined ? undefined : bodyWithoutExcluded(kind, usableBody);
  const isFailure = body !== undefined && isFailureBody(body);
  // Where fields of the kind are excluded, only members that are known to be clean are shown; a body that is not JSON is hidden.
  let shownBytes = bytes;
  if (kind.excluded !== undefined && bytes.length > 0)
    shownBytes = Buffer.from(
      usableBody === undefined ? NOT_SHOWN : compactJson(keepKnownFields(kind, usableBody)),
    );
  // Masked before it is cut: a token that begins within the excerpt is masked in full, in any spelling.
  const length = START_LENGTH + LONGEST_SPELLING * token.length;
  const text = new TextDecoder().decode(shownBytes.subarray(0, BYTES_A_CHARACTER * length)).slice(0, length);
  return {
    is: 'answered',
    status,
    body,
    start: truncate(replaceUnstorable(maskSecrets([token])(text)), START_LENGTH),
    retryAfterMs: retryAfterMs(headers['retry-after'], about.receivedAt),
    locationId: isFailure ? undefined : idFromLocation(kind, status, headers['location']),
  };
}

/** Takes the id from a `Location` like `/api/projects/500`: any other may lead to a page, or to a sign-in. */
function idFromLocation(kind: Kind, status: number, location: unknown): string | undefined {
  if (kind.create === null || typeof location !== 'string' || (status !== 201 && status !== 303))
    return undefined;
  const path = URL.parse(location, `http://service${kind.create.path}`)?.pathname ?? '';
  const [id = '', list] = path.replace(/\/$/, '').split('/').reverse();
  return list === kind.create.path.split('/').at(-1) && /^\d+$/.test(id) ? id : undefined;
}

/**
 * Takes the record out of the answer to a create or an update: `{data: {…}}`, `{data: [{…}]}` or bare.
 * @returns Null if there is no single record with an id, or if the service reports a failure.
 */
export function writtenRecord(body: Json): JsonObject | null {
  if (isFailureBody(body)) return null;
  const record = singleRecord(body);
  if (!isObject(record)) return null;
  const id = record['id'];
  return isNumber(id) || (typeof id === 'string' && id.trim() !== '') ? record : null;
}
