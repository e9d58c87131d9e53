import { expect, test } from 'vitest';
import { updateElapsed, startElapsed, startStopwatch } from '../../src/outbound/stopwatch.ts';

/** A wall clock and a monotonic one, in seconds. */
function clocks() {
  const at = { wall: 0, ran: 0 };
  const clock = {
    now: () => new Date(Date.parse('2026-03-01T12:00:00Z') + at.wall * 1000),
    monotonicMs: () => 50_000 + at.ran * 1000,
    sleep: () => Promise.resolve(),
  };
  return { at, clock };
}

test('time passes by the monotonic clock, wherever the wall clock goes', () => {
  const { at, clock } = clocks();
  const watch = startStopwatch(clock);
  const lost = startElapsed(watch);
  Object.assign(at, { wall: 86_400, ran: 10 });
  expect(updateElapsed(watch, lost).elapsedMs).toBe(10_000);
  Object.assign(at, { wall: -86_400, ran: 20 });
  expect(updateElapsed(watch, updateElapsed(watch, lost)).elapsedMs).toBe(20_000);
});

test('a process adds no more than it has run, and nothing where the clock was set back', () => {
  const { at, clock } = clocks();
  const lost = startElapsed(startStopwatch(clock));
  Object.assign(at, { wall: 86_400, ran: 86_400 });
  const next = startStopwatch(clock);
  expect(updateElapsed(next, lost).elapsedMs).toBe(0);
  Object.assign(at, { wall: 86_430, ran: 86_430 });
  const grown = updateElapsed(next, lost);
  expect(grown.elapsedMs).toBe(30_000);
  Object.assign(at, { wall: 0 });
  const third = startStopwatch(clock);
  Object.assign(at, { wall: 40, ran: 86_470 });
  const counted = updateElapsed(third, grown);
  expect(counted.elapsedMs).toBe(30_000);
  Object.assign(at, { wall: 50, ran: 86_480 });
  expect(updateElapsed(third, counted).elapsedMs).toBe(40_000);
});

test('an entry of an earlier release begins to count', () => {
  const { clock } = clocks();
  const watch = startStopwatch(clock);
  expect(updateElapsed(watch, { elapsedMs: 0, elapsedAt: null })).toEqual(startElapsed(watch));
});
