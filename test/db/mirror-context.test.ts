import { expect, onTestFinished, test } from 'vitest';
import { repeatTask } from '../../src/db/mirror-context.ts';
import { MirrorError } from '../../src/db/session/errors.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { memoryLog } from '../runs/engine/support.ts';

/** Repeats a task, until the test ends, with pauses that only `wake` ends; returns what ran and what failed. */
function repeated(task: (run: number) => Promise<void>) {
  const { logger, lines } = memoryLog();
  const waiting: (() => void)[] = [];
  let runs = 0;
  let pauses = 0;
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    pauses += 1;
    for (const resolve of waiting.splice(0)) resolve();
    return systemClock.sleep(ms, signal);
  };
  const context = { logger, clock: { ...systemClock, sleep } };
  const repeating = repeatTask(context, 'polling', 3_600_000, () => task((runs += 1)));
  onTestFinished(() => repeating.stop());
  /** Resolves once there were so many pauses. */
  const paused = async (count: number): Promise<void> => {
    while (pauses < count) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { repeating, lines, paused, runs: () => runs };
}

test('a task runs at once, and again when it is woken', async () => {
  const { repeating, paused, runs } = repeated(() => Promise.resolve());
  await paused(1);
  expect(runs()).toBe(1);
  repeating.wake();
  await paused(2);
  expect(runs()).toBe(2);
});

test('a task that is woken while it runs runs once more, never twice at a time', async () => {
  let running = 0;
  const atOnce: number[] = [];
  const { repeating, paused, runs } = repeated(async (run) => {
    atOnce.push((running += 1));
    for (let time = 0; time < 3; time++) {
      await Promise.resolve();
      if (run === 1) repeating.wake();
    }
    running -= 1;
  });
  await paused(2);
  expect(runs()).toBe(2);
  expect(atOnce).toEqual([1, 1]);
});

test('a task that fails is logged and tried again; an outage of the database is logged elsewhere', async () => {
  const faults = [new Error('a bug'), new MirrorError('Away.', { code: 'mirror.unreachable' })];
  const { repeating, lines, paused, runs } = repeated((run) => {
    const fault = faults[run - 1];
    return fault === undefined ? Promise.resolve() : Promise.reject(fault);
  });
  await paused(1);
  for (const run of [2, 3]) {
    repeating.wake();
    await paused(run);
  }
  expect(runs()).toBe(3);
  expect(lines.map(({ msg }) => msg)).toEqual(['polling failed']);
});

test('a stopped task ends its run and begins no other', async () => {
  let begun = 0;
  let ended = 0;
  const { repeating } = repeated(async () => {
    begun += 1;
    await Promise.resolve();
    ended += 1;
  });
  await repeating.stop();
  repeating.wake();
  expect([begun, ended]).toEqual([1, 1]);
});
