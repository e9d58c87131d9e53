import { isObject, type Json, type JsonObject } from '../../lib/json/json.ts';
import { isSuccess, isFailureBody } from '../../source/http/read-answer.ts';
import type { Attempt } from '../../store/outbox/attempts-and-links.ts';
import { writtenRecord, type WriteAnswer } from '../../source/http/write-answer.ts';

/** The proof that an answer to a write gives about the service's records. */
export type Grade =
  /** The service reports success; `record` is the record it shows, null if it shows none. */
  | { readonly is: 'accepted'; readonly record: JsonObject | null }
  /** The request certainly did not reach the service. */
  | { readonly is: 'unsent' }
  /** It refused, and will refuse again. */
  | { readonly is: 'rejected' }
  /** It does not know our token. */
  | { readonly is: 'token_refused' }
  /** Our token may not do this. */
  | { readonly is: 'refused' }
  /** It refused for now. */
  | { readonly is: 'busy'; readonly waitMs: number | null }
  /** Unknown. */
  | { readonly is: 'ambiguous' };

/** Statuses that mean: the service changed nothing, and its message has the reason. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 404, 405, 409, 410, 413, 415, 422]);

/** Whether the service may have carried out an attempt, or still may, without having reported it. */
export const canHaveArrived = ({ closedAt, grade }: Pick<Attempt, 'closedAt' | 'grade'>): boolean =>
  closedAt === null || grade === 'ambiguous' || grade === 'made' || grade === 'not_applied';

/** Grades the result of a write; every uncertain result is ambiguous. */
export function grade(answer: WriteAnswer): Grade {
  if (answer.is === 'unsent') return { is: 'unsent' };
  if (answer.is === 'lost') return { is: 'ambiguous' };
  const { status, body, start, retryAfterMs } = answer;
  if (isSuccess(status)) {
    if (body !== undefined) return { is: 'accepted', record: writtenRecord(body) };
    return start === '' ? { is: 'accepted', record: null } : { is: 'ambiguous' };
  }
  if (!isServiceAnswer(body)) return { is: 'ambiguous' };
  if (status === 401) return { is: 'token_refused' };
  if (status === 403) return { is: 'refused' };
  if (status === 429) return { is: 'busy', waitMs: retryAfterMs };
  return { is: REJECTIONS.has(status) ? 'rejected' : 'ambiguous' };
}

const SUCCESSES: readonly Json[] = [true, 'true', 1, '1'];

/** Whether the status states that a record was created: other successes may mean a job that is to create it. */
export const isCreated = (answer: WriteAnswer): boolean => answer.is === 'answered' && answer.status === 201;

/**
 * Whether the service itself answered that it failed: then it works on the request no more, as it may after a lost answer. A gateway,
 * behind which it may, answers with a message alone.
 */
export const hasFailed = (answer: WriteAnswer): boolean => {
  if (answer.is !== 'answered' || !FAILURES.has(answer.status)) return false;
  return answer.body !== undefined && isFailureBody(answer.body);
};

const FAILURES: ReadonlySet<number> = new Set([500, 503]);

/** Whether a success that names no record proves that the service made one: it has no body, or the service's own JSON reports it. */
export function isProvenCreated(answer: WriteAnswer): boolean {
  if (answer.is !== 'answered' || !isSuccess(answer.status)) return false;
  const { status, body, start } = answer;
  if (!isObject(body)) return body === undefined && start === '';
  return !isFailureBody(body) && (status === 201 || SUCCESSES.some((success) => success === body['success']));
}

/** Whether the service itself answered: a page of a proxy proves nothing about the service behind it, at any status. */
function isServiceAnswer(body: Json | undefined): boolean {
  return (
    body !== undefined && isObject(body) && ('message' in body || 'errors' in body || isFailureBody(body))
  );
}
