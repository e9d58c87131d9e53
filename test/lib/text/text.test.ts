import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isStorable, replaceUnstorable, sanitizeJson, sanitizeLine } from '../../../src/lib/text/text.ts';

test.each(['a\0b', '\ud800', 'x\udfffy'])('what no database keeps gets a mark in its place: %j', (text) => {
  expect(isStorable(text)).toBe(false);
  expect(isStorable(replaceUnstorable(text))).toBe(true);
  expect(replaceUnstorable(text)).toContain('\ufffd');
});

test.each(['', 'Québec 😀', 'tab\tand line\n'])('all else stays as it is: %j', (text) => {
  expect(replaceUnstorable(text)).toBe(text);
});

const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from('\u001b\u009b\u202e\u2066\u200f\u061c\u2028\u2029\u0085\u007f\0\r\n\t\\"')),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

test('a line has nothing that steers a terminal, and keeps its length and all else', () => {
  fc.assert(
    fc.property(text, (any) => {
      const line = sanitizeLine(any);
      expect(line).not.toMatch(STEERING);
      expect(line).toHaveLength(any.length);
      if (!STEERING.test(any)) expect(line).toBe(any);
    }),
  );
});

test('JSON stays the same JSON, without what steers a terminal', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (document) => {
      const json = sanitizeJson(JSON.stringify(document));
      expect(json).not.toMatch(STEERING);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(document)));
    }),
  );
});
