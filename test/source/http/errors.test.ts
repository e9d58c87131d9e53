import { expect, test } from 'vitest';
import { excerpt, redactErrors, SourceError } from '../../../src/source/http/errors.ts';

const TOKEN = 'secret-token-0123456789';
const HIDDEN = 'GET /api/clients: got an answer that repeats the token (status 200)';

function messageOf(error: SourceError, token = TOKEN): string {
  const read = redactErrors({ status: 200, where: 'GET /api/clients' }, token);
  try {
    return read(() => {
      throw error;
    });
  } catch (thrown) {
    return thrown instanceof SourceError ? thrown.message : 'another error';
  }
}

const quoting = (body: string): SourceError =>
  new SourceError('success_false', `got ${excerpt(body)}, expected a list`, { quoted: body });

test.each([
  ['the body begins with', quoting(`{"error":"${TOKEN}"}`)],
  ['a header holds, and the message quotes', new SourceError('not_json', `got content-encoding ${TOKEN}`)],
  ['the body spells with escapes, and the message quotes', quoting(`{"error":"\\u0073${TOKEN.slice(1)}"}`)],
])('an error about an answer that repeats the token quotes nothing: %s it', (_, error) => {
  expect(messageOf(error)).toBe(HIDDEN);
});

test('an excerpt that ends in the midst of the token shows no part of it, wherever that is and however it is spelled', () => {
  const inUnicode = TOKEN.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  for (const spelled of [TOKEN, inUnicode])
    for (let before = 0; before < 100; before++) {
      const message = messageOf(quoting('x'.repeat(before) + spelled + 'y'.repeat(500)));
      if (message !== HIDDEN) expect(message).not.toMatch(/s|\\/);
      if (before < 80) expect(message).toBe(HIDDEN);
    }
});

test.each([
  ['is cut', TOKEN.slice(0, 9)],
  ['has another character in its midst', TOKEN.replace('-token-', '-tokem-')],
])('a token that %s shows no part worth having', (_, damaged) => {
  expect(messageOf(quoting(`{"error":"${damaged}"}`))).toBe(HIDDEN);
});

test('any other error keeps its words', () => {
  expect(messageOf(new SourceError('success_false', 'got {}, expected a list'))).toBe(
    'got {}, expected a list',
  );
});

test('a short token does not hide what merely has its letters', () => {
  const error = quoting('{"error":"no page"}');
  expect(messageOf(error, 'p')).toBe(error.message);
  expect(messageOf(quoting('{"error":"no","token":"p"}'), 'p')).toBe(HIDDEN);
});

test('only the beginning of a body is looked at: 60 MB of backslashes take no seconds', () => {
  const error = quoting('\\'.repeat(60_000_000));
  const started = performance.now();
  expect(messageOf(error)).toBe(error.message);
  expect(performance.now() - started).toBeLessThan(1000); // 10 ms alone on a machine; the whole body takes many seconds.
});
