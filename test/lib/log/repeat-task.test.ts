import { expect, onTestFinished, test } from 'vitest';
import { repeatTask, throttle } from '../../../src/lib/log/repeat-task.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';

/** Repeats a task, until the test ends, with pauses that only `wake` ends; returns what ran and what failed. */
function repeated(task: (run: number) => Promise<void>) {
  const faults: unknown[] = [];
  const waiting: (() => void)[] = [];
  let runs = 0;
  let pauses = 0;
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    pauses += 1;
    for (const resolve of waiting.splice(0)) resolve();
    return systemClock.sleep(ms, signal);
  };
  const repeating = repeatTask({
    clock: { ...systemClock, sleep },
    everyMs: 3_600_000,
    name: 'polling',
    faults: (work, error) => faults.push([work, error]),
    task: () => task((runs += 1)),
  });
  onTestFinished(() => repeating.stop());
  /** Resolves once there were so many pauses. */
  const paused = async (count: number): Promise<void> => {
    while (pauses < count) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { repeating, faults, paused, runs: () => runs };
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

test('a task that fails is told of, and tried again', async () => {
  const { repeating, faults, paused, runs } = repeated((run) =>
    run === 1 ? Promise.reject(new Error('away')) : Promise.resolve(),
  );
  await paused(1);
  expect(faults).toEqual([['polling', new Error('away')]]);
  repeating.wake();
  await paused(2);
  expect([runs(), faults.length]).toEqual([2, 1]);
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

test('it calls at once, and once more after a rest for all calls meanwhile', async () => {
  let calls = 0;
  const rests: (() => void)[] = [];
  const clock = { ...systemClock, sleep: () => new Promise<void>((resolve) => void rests.push(resolve)) };
  const call = throttle(25, clock, () => {
    calls += 1;
  });
  const rest = async (): Promise<void> => {
    rests.pop()?.();
    await new Promise(setImmediate);
  };
  call();
  expect(calls).toBe(1);
  for (let again = 0; again < 3; again += 1) call();
  expect(calls).toBe(1);
  await rest();
  expect(calls).toBe(2);
  await rest();
  expect(calls).toBe(2);
  call();
  expect(calls).toBe(3);
});
