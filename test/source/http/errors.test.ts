import { expect, test } from 'vitest';
import { PASSING_REASONS } from '../../../src/catalog/fault-reasons.ts';
import { redactErrors, SourceError, type SourceReason } from '../../../src/source/http/errors.ts';

const TOKEN = 'secret-token-0123456789';

function messageOf(error: SourceError, token = TOKEN): string {
  const read = redactErrors('GET /api/clients', 200, token);
  try {
    return read(() => {
      throw error;
    });
  } catch (thrown) {
    return thrown instanceof SourceError ? thrown.message : 'another error';
  }
}

test('an error whose message has the token from a header names only the place', () => {
  expect(messageOf(new SourceError('redirected', `got status 302 to ${TOKEN}.example`))).toBe(
    'GET /api/clients: got an answer that repeats the token (status 200)',
  );
});

test('any other error keeps its words', () => {
  const error = new SourceError('success_false', 'got an object with 2 members, expected a page');
  expect(messageOf(error)).toBe(error.message);
  expect(messageOf(error, 'p')).toBe(error.message); // A short token does not hide what merely has its letters.
});

test('a fault passes by its reason alone', () => {
  const passes = (reason: SourceReason) => new SourceError(reason, 'a fault').passing !== undefined;
  const passing = [
    'unreachable',
    'timeout',
    'unavailable',
    'rate_limited',
    'not_json',
    'page_unread',
  ] as const;
  const lasting = ['unauthorized', 'forbidden', 'not_found', 'too_big', 'endless', 'interrupted'] as const;
  expect([passing.map(passes), lasting.map(passes)]).toEqual([
    passing.map(() => true),
    lasting.map(() => false),
  ]);
  expect(PASSING_REASONS).toEqual(expect.arrayContaining([...passing]));
  expect(PASSING_REASONS).not.toEqual(expect.arrayContaining([expect.toBeOneOf([...lasting])]));
  expect(new SourceError('unavailable', 'a fault', { waitMs: 7 }).passing).toEqual({ waitMs: 7 });
});
