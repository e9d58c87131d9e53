import { DEEPEST, isDeeper } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { maskSecrets } from '../../lib/mask-secrets.ts';
import { LONGEST_SPELLING } from '../../lib/secret-pattern.ts';
import { shortened, storable } from '../../lib/text.ts';
import { SourceError } from '../http/errors.ts';
import { parseBody } from './parse-body.ts';
import { retryAfterMs } from './retry-after.ts';
import type { HttpAnswer } from '../http/receive.ts';

/** What became of a write: facts, no verdict. `why` is a stable word or an error's code, never with the token in it. */
export type WriteAnswer =
  /** No byte of the request was handed to a socket. */
  | { readonly is: 'unsent'; readonly why: string }
  /** It may have been sent, and no whole answer came. */
  | { readonly is: 'lost'; readonly why: string }
  | AnsweredWrite;

export interface AnsweredWrite {
  readonly is: 'answered';
  readonly status: number;
  /** As it was sent, the token included where it repeats it; undefined where it is no JSON that can be used. */
  readonly body: Json | undefined;
  /** The beginning of the body as text that can be stored, without the token. */
  readonly start: string;
  readonly retryAfterMs: number | null;
}

const START_LENGTH = 500;
const BYTES_A_CHARACTER = 3; // Of UTF-8, at most, for one unit of UTF-16.

/**
 * Reads the answer to a write, whatever it is.
 *
 * A body that only the end of its connection ends may be cut; then it is no JSON, as an object lacks its last brace.
 */
export function readWriteAnswer(
  { status, headers, bytes }: HttpAnswer,
  about: { readonly where: string; readonly token: string; readonly receivedAt: Date },
): AnsweredWrite {
  return {
    is: 'answered',
    status,
    body: usableJson(bytes, about.where),
    start: startOf(bytes, about.token),
    retryAfterMs: retryAfterMs(headers['retry-after'], about.receivedAt),
  };
}

function usableJson(bytes: Uint8Array, where: string): Json | undefined {
  try {
    const body = parseBody(bytes, where);
    return isDeeper(body, DEEPEST) ? undefined : body;
  } catch (error) {
    if (error instanceof SourceError) return undefined; // What it is shows in its beginning.
    throw error;
  }
}

/** Masked before it is cut: a token that begins within the start ends within what is masked, however it is spelled. */
function startOf(bytes: Uint8Array, token: string): string {
  const length = START_LENGTH + LONGEST_SPELLING * token.length;
  const text = new TextDecoder().decode(bytes.subarray(0, BYTES_A_CHARACTER * length)).slice(0, length);
  return shortened(storable(maskSecrets([token])(text)), START_LENGTH);
}
