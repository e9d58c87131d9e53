import * as timers from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  formatInstant,
  formatDuration,
  systemClock,
  isCalendarDate,
  isClockTime,
} from '../../../src/lib/time/clock.ts';
import { tries } from '../../support/tiers.ts';

vi.mock(import('node:timers/promises'), async (original) => ({ ...(await original()), setTimeout: vi.fn() }));

const delay = vi.mocked(timers.setTimeout);
const LONGEST = 2 ** 31 - 1; // Node fires a longer timer after one millisecond.
const DAY = 86_400_000;

beforeEach(() => {
  delay.mockReset().mockResolvedValue(undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([1, 1000, LONGEST, LONGEST + 1, 25 * DAY, 60 * DAY, 365 * DAY])(
  'a sleep of %i ms is whole',
  async (ms) => {
    await systemClock.sleep(ms);
    const parts = delay.mock.calls.map(([part]) => part ?? 0);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(ms);
    expect(Math.max(...parts)).toBeLessThanOrEqual(LONGEST);
  },
);

test.each([0, -1])('a sleep of %i ms sets no timer', async (ms) => {
  await systemClock.sleep(ms);
  expect(delay).not.toHaveBeenCalled();
});

test('each part of a sleep listens to the signal', async () => {
  const { signal } = new AbortController();
  await systemClock.sleep(LONGEST + 5, signal);
  expect(delay.mock.calls.map(([, , options]) => options?.signal)).toEqual([signal, signal]);
});

test.each([0, 5, LONGEST + 5])('a sleep of %i ms that is aborted rejects with the reason', async (ms) => {
  const real = await vi.importActual<typeof timers>('node:timers/promises');
  delay.mockImplementation(real.setTimeout);
  const reason = new Error('shutting down');
  const fault: unknown = await systemClock
    .sleep(ms, AbortSignal.abort(reason))
    .catch((error: unknown) => error);
  expect(fault).toBe(reason);
});

test.each(['UTC', 'Pacific/Apia', 'America/St_Johns'])(
  'C08: an instant is written in UTC under TZ=%s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    expect(formatInstant(new Date('2026-03-29T01:59:59.007Z'))).toBe('2026-03-29 01:59:59.007');
    expect(formatInstant(new Date('2024-12-31T23:30:00-03:30'))).toBe('2025-01-01 03:00:00.000');
  },
);

test('texts of instants sort as the instants do', () => {
  const instants = [0, 1, 999, 1000, 1e12, 1.7e12, 4e12].map((ms) => formatInstant(new Date(ms)));
  expect([...instants].sort()).toEqual(instants);
});

test('the system clock goes forward', () => {
  const instants = [Date.now(), systemClock.now().getTime(), Date.now()];
  const from = systemClock.monotonicMs();
  expect(instants.toSorted((a, b) => a - b)).toEqual(instants);
  expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(from);
});

test.each([
  [400, '0 s'],
  [31_000, '31 s'],
  [240_000, '4 min'],
  [7_500_000, '2 h 5 min'],
])('%i ms are told as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

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
    { numRuns: tries(3000) },
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
