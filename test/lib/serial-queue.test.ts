import { expect, test } from 'vitest';
import { createSerialQueue } from '../../src/lib/serial-queue.ts';
import { gate } from '../store/temp-mirror.ts';

test('jobs run one after the other, in the order given, whatever each of them takes', async () => {
  const enqueue = createSerialQueue();
  const first = gate();
  const steps: string[] = [];
  const jobs = [
    enqueue(async () => {
      steps.push('a begins');
      await first.opened;
      steps.push('a ends');
    }),
    enqueue(() => Promise.resolve(steps.push('b'))),
    enqueue(() => Promise.resolve(steps.push('c'))),
  ];
  await new Promise(setImmediate);
  expect(steps).toEqual(['a begins']);
  first.open();
  await Promise.all(jobs);
  expect(steps).toEqual(['a begins', 'a ends', 'b', 'c']);
});

test('a failed job tells its own caller and nobody else', async () => {
  const enqueue = createSerialQueue();
  const fault = new Error('no');
  const settled = await Promise.allSettled([
    enqueue(() => Promise.reject(fault)),
    enqueue(() => {
      throw fault; // Before there is any promise.
    }),
    enqueue(() => Promise.resolve('yes')),
  ]);
  expect(settled).toEqual([
    { status: 'rejected', reason: fault },
    { status: 'rejected', reason: fault },
    { status: 'fulfilled', value: 'yes' },
  ]);
});
