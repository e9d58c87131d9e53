import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../src/lib/time/retry-after.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const QUARTER = 15 * 60_000;

test.each<[string | string[] | undefined, number | null]>([
  ['7', 7000],
  [' 7 ', 7000],
  ['0', 1000],
  ['00', 1000],
  ['1', 1000],
  ['899', 899_000],
  ['901', QUARTER],
  ['1000000000', QUARTER],
  ['99999999999999999999999999', QUARTER],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['0x10', null],
  ['abc', null],
  ['', null],
  ['7 seconds', null],
  ['2026-03-01T12:00:30Z', null],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 1000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 1000],
  ['Fri, 01 Jan 2038 00:00:00 GMT', QUARTER],
  ['Sun, 99 Mar 2026 12:00:30 GMT', null],
  [['7', '9'], 9000],
  [['abc', '9'], 9000],
  [['9', 'Sun, 01 Mar 2026 12:00:30 GMT'], 30_000],
  [[], null],
  [undefined, null],
])('B08: Retry-After %j is a wait of %j ms', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected);
});
