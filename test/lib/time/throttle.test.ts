import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { throttle } from '../../../src/lib/time/throttle.ts';

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
