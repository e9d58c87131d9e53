import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCalendarDate, isClockTime } from '../../../src/lib/time/calendar.ts';

const pad = (value: number, width: number) => String(value).padStart(width, '0');

/** The days of a month by the proleptic Gregorian calendar of JS, years below 100 included. */
function daysIn(year: number, month: number): number {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
}

test('C07: exactly the days of the calendar are dates', () => {
  const parts = [
    fc.integer({ min: 0, max: 9999 }),
    fc.integer({ min: 0, max: 13 }),
    fc.integer({ min: 0, max: 33 }),
  ];
  fc.assert(
    fc.property(
      ...(parts as [fc.Arbitrary<number>, fc.Arbitrary<number>, fc.Arbitrary<number>]),
      (y, m, d) => {
        const exists = y >= 1 && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m);
        expect(isCalendarDate(`${pad(y, 4)}-${pad(m, 2)}-${pad(d, 2)}`)).toBe(exists);
      },
    ),
    { numRuns: 3000 },
  );
});

test('C07: of the 29ths of February only those of leap years are dates', () => {
  for (let year = 1; year <= 9999; year++)
    expect(isCalendarDate(`${pad(year, 4)}-02-29`)).toBe(daysIn(year, 2) === 29);
});

test('C07: exactly 86,400 texts of a clock are times', () => {
  const upTo = (last: number) => Array.from({ length: last + 1 }, (_, at) => pad(at, 2));
  const times = upTo(25).flatMap((h) => upTo(61).flatMap((m) => upTo(61).map((s) => `${h}:${m}:${s}`)));
  expect(times.filter(isClockTime)).toHaveLength(86_400);
  expect([isClockTime('23:59:59'), isClockTime('24:00:00'), isClockTime('23:59:60')]).toEqual([
    true,
    false,
    false,
  ]);
});
