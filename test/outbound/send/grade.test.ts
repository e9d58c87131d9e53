import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/json.ts';
import { grade, canHaveArrived, hasFailed } from '../../../src/outbound/send/grade.ts';
import type { WriteAnswer } from '../../../src/source/http/write-answer.ts';

const answered = (status: number, body?: Json, retryAfterMs: number | null = null): WriteAnswer => ({
  is: 'answered',
  status,
  body,
  start: '',
  retryAfterMs,
});

const page = (status: number): WriteAnswer => ({
  is: 'answered',
  status,
  body: undefined,
  start: '<!DOCTYPE html>',
  retryAfterMs: null,
});

const FAILED: Json = { success: false, message: 'no' };

describe('what an answer says', () => {
  test.each<[string, WriteAnswer, string]>([
    ['nothing was handed to a socket', { is: 'unsent', why: 'ECONNREFUSED' }, 'unsent'],
    ['the connection broke', { is: 'lost', why: 'ECONNRESET' }, 'ambiguous'],
    ['200 with a record', answered(200, { id: 5 }), 'accepted'],
    ['201 in an envelope', answered(201, { data: [{ id: 5 }], success: true }), 'accepted'],
    ...[400, 404, 405, 409, 410, 413, 415, 422].map((status): [string, WriteAnswer, string] => [
      `${status} in the service's words`,
      answered(status, FAILED),
      'rejected',
    ]),
    ['204 without a word', answered(204), 'accepted'],
    ...[200, 201, 400, 401, 403, 404, 422, 429, 503].map((status): [string, WriteAnswer, string] => [
      `${status} as a web page`,
      page(status),
      'ambiguous',
    ]),
    ['401 in its words', answered(401, { message: 'Unauthenticated.' }), 'token_refused'],
    ['403 in its words', answered(403, { message: 'This action is unauthorized.' }), 'refused'],
    ['429 in its words', answered(429, { message: 'Too Many Attempts.' }), 'busy'],
    ['429 with a wait', answered(429, FAILED, 7000), 'busy'],
    ['422 with its errors', answered(422, { errors: { code: ['taken'] } }), 'rejected'],
    ['503 with a wait', answered(503, FAILED, 7000), 'ambiguous'],
    ['503 without one', answered(503, FAILED), 'ambiguous'],
    ...[401, 403, 404, 422, 429].flatMap((status): [string, WriteAnswer, string][] => [
      [`${status} without a body`, answered(status), 'ambiguous'],
      [`${status} with some JSON`, answered(status, { code: 7 }), 'ambiguous'],
      [`${status} with a text`, answered(status, 'message'), 'ambiguous'],
    ]),
    ...[301, 302, 307, 402, 408, 425, 418, 500, 502, 504, 599].map(
      (status): [string, WriteAnswer, string] => [`${status}`, answered(status, FAILED), 'ambiguous'],
    ),
  ])('%s: %s', (_what, answer, expected) => {
    expect(grade(answer).is).toBe(expected);
  });

  test('a wait that the service asks for is told', () => {
    expect(grade(answered(429, FAILED, 7000))).toEqual({ is: 'busy', waitMs: 7000 });
    expect(grade(answered(429, FAILED))).toEqual({ is: 'busy', waitMs: null });
  });

  test.each<[string, Json | undefined]>([
    ['no body', undefined],
    ['a failure', { success: false, id: 5 }],
    ['no id', { data: { code: 'A' } }],
    ['several records', { data: [{ id: 1 }, { id: 2 }] }],
  ])('a success with %s names no record', (_what, body) => {
    expect(grade(answered(200, body))).toEqual({ is: 'accepted', record: null });
  });
});

test('only the service’s own report of a failure ends its work, not the message of a gateway', () => {
  const gateway = answered(503, { message: 'Service Unavailable' });
  const answers = [answered(500, FAILED), answered(503, FAILED), gateway, answered(502, FAILED), page(503)];
  expect(answers.map(hasFailed)).toEqual([true, true, false, false, false]);
});

test('an attempt may have arrived while it is open, where nobody could tell, and where not all of it shows', () => {
  const closed = (grade: string | null) => canHaveArrived({ closedAt: '2026-03-01 12:00:00.000', grade });
  expect(canHaveArrived({ closedAt: null, grade: null })).toBe(true);
  expect(['ambiguous', 'not_applied'].map(closed)).toEqual([true, true]);
  expect(['unsent', 'busy', 'refused', 'rejected', 'done'].map(closed)).not.toContain(true);
});
