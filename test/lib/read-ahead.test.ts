import { describe, expect, test } from 'vitest';
import { readAhead } from '../../src/lib/read-ahead.ts';

/** Numbers from 1 to 3, noting which were asked for and whether the sequence has ended. */
function numbers(failing: number | null = null): {
  readonly items: AsyncGenerator<number>;
  readonly asked: (number | 'end')[];
} {
  const asked: (number | 'end')[] = [];
  async function* count(): AsyncGenerator<number> {
    try {
      for (let n = 1; n <= 3; n += 1) {
        asked.push(n);
        if (n === failing) throw new Error(`no ${n}`);
        yield await Promise.resolve(n);
      }
    } finally {
      asked.push('end');
    }
  }
  return { items: count(), asked };
}

const turn = (): Promise<void> => new Promise(setImmediate);

describe('readAhead', () => {
  test('hands out all items in their order', async () => {
    const read: number[] = [];
    for await (const item of readAhead(numbers().items)) read.push(item);
    expect(read).toEqual([1, 2, 3]);
  });

  test('reads one item while the caller works on the one before', async () => {
    const { items, asked } = numbers();
    const ahead = readAhead(items);
    expect((await ahead.next()).value).toBe(1);
    await turn();
    expect(asked).toEqual([1, 2]);
  });

  test('throws a fault at its turn, not while the caller works', async () => {
    const ahead = readAhead(numbers(2).items);
    expect((await ahead.next()).value).toBe(1);
    await turn(); // An unhandled rejection would fail the run here.
    await expect(ahead.next()).rejects.toThrow('no 2');
  });

  test('ends the sequence where the caller stops early', async () => {
    const { items, asked } = numbers();
    for await (const item of readAhead(items)) if (item === 1) break;
    expect(asked).toEqual([1, 2, 'end']);
  });
});
