import { expect, test } from 'vitest';
import { isStorable, storable } from '../../../src/lib/text/text.ts';

test.each(['a\0b', '\ud800', 'x\udfffy'])('what no database keeps gets a mark in its place: %j', (text) => {
  expect(isStorable(text)).toBe(false);
  expect(isStorable(storable(text))).toBe(true);
  expect(storable(text)).toContain('\ufffd');
});

test.each(['', 'Québec 😀', 'tab\tand line\n'])('all else stays as it is: %j', (text) => {
  expect(storable(text)).toBe(text);
});
