import { expect, test } from 'vitest';
import { batchByArrival } from '../../../src/lib/time/batch-by-arrival.ts';

const limits = (maxWeight: number) => ({
  targetWeight: maxWeight,
  maxWeight,
  weigh: () => 1,
  lingerMs: 10,
  pauseMs: 1,
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* atOnce(count: number): AsyncGenerator<number> {
  for (let n = 1; n <= count; n++) yield await Promise.resolve(n);
}

test('what comes shortly one after the other comes together, but never more than allowed', async () => {
  expect(await collect(batchByArrival(atOnce(7), limits(3)))).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  expect(await collect(batchByArrival(atOnce(0), limits(3)))).toEqual([]);
});

test('what weighs little comes with more', async () => {
  const byValue = { ...limits(5), weigh: (n: number) => n };
  expect(await collect(batchByArrival(atOnce(6), byValue))).toEqual([[1, 2, 3], [4, 5], [6]]);
});

test('what has not arrived is not waited for long', async () => {
  let release: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (release = resolve));
  async function* slow(): AsyncGenerator<number> {
    yield* atOnce(2);
    await late;
    yield 3;
  }
  const batches = batchByArrival(slow(), limits(8));

  expect((await batches.next()).value).toEqual([1, 2]);
  release();
  expect((await batches.next()).value).toEqual([3]);
  expect((await batches.next()).done).toBe(true);
});

test('once there is enough, a batch takes more at once, and waits for no more', async () => {
  async function* burst(): AsyncGenerator<number> {
    yield* atOnce(4);
    await new Promise(() => undefined); // Never comes.
  }
  const patient = { ...limits(9), targetWeight: 2, lingerMs: 600_000 };

  expect((await batchByArrival(burst(), patient).next()).value).toEqual([1, 2, 3, 4]);
  expect(await collect(batchByArrival(atOnce(7), { ...patient, maxWeight: 5 }))).toEqual([
    [1, 2, 3, 4, 5],
    [6, 7],
  ]);
});

test('an error comes after what was there before it', async () => {
  async function* failing(): AsyncGenerator<number> {
    yield* atOnce(2);
    throw new Error('torn');
  }
  const batches = batchByArrival(failing(), limits(8));

  expect((await batches.next()).value).toEqual([1, 2]);
  await expect(batches.next()).rejects.toThrow('torn');
});

test('who stops early lets the items go', async () => {
  let released = false;
  async function* held(): AsyncGenerator<number> {
    try {
      yield* atOnce(9);
    } finally {
      released = true;
    }
  }
  for await (const batch of batchByArrival(held(), limits(2))) if (batch.includes(1)) break;
  expect(released).toBe(true);
});
