import { expect, test } from 'vitest';
import { compareSpellings } from '../../../../src/features/plans/sheet/spellings.ts';

test.each([
  ['24:00', '00:00:00', 'same'],
  ['24:00:00', '00:00', 'same'],
  ['9:05', '09:05:00', 'same'],
  ['9 h 05', '09:05:00', 'same'],
  ['9:06', '09:05:00', 'other'],
  ['09:05:30', '09:05:00', 'other'],
])('a cell with the time %s beside %s: %s', (text, shown, expected) => {
  expect(compareSpellings(text, shown, { decimalSign: '.', dayFirst: null })).toBe(expected);
});
