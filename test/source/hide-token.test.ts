import { expect, test } from 'vitest';
import { SourceError } from '../../src/source/errors.ts';
import { hideToken } from '../../src/source/hide-token.ts';

const TOKEN = 'secret-token-0123456789';

function messageOf(body: string, message: string): string {
  const read = hideToken({ bytes: Buffer.from(body), status: 200, where: 'GET /api/clients' }, TOKEN);
  try {
    return read(() => {
      throw new SourceError('success_false', message);
    });
  } catch (error) {
    return error instanceof SourceError ? error.message : 'another error';
  }
}

test.each([
  ['the body holds', TOKEN, 'got something'],
  ['a header holds, and the message quotes', '{}', `got content-encoding ${TOKEN}`],
  [
    'the body spells with escapes, and the message quotes',
    '{"error":"\\u0073ecret"}',
    `got {"error":"${TOKEN}"}`,
  ],
])('an error about an answer that repeats the token quotes nothing: %s it', (_, body, message) => {
  expect(messageOf(body, message)).toBe(
    'GET /api/clients: got an answer that repeats the token (status 200)',
  );
});

test('any other error keeps its words', () => {
  expect(messageOf('{}', 'got {}, expected a list')).toBe('got {}, expected a list');
});
