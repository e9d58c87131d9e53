import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdNumbers } from '../../../src/lib/ids/id-numbers.ts';

const LARGEST = 2n ** 63n - 1n;
const id = fc
  .oneof(
    fc.bigInt(1n, 20n),
    fc.bigInt(1n, LARGEST),
    fc.bigInt(LARGEST - 5n, LARGEST),
    fc.bigInt(999_999_990n, 1_000_000_010n),
  )
  .map(String);

test('numbers ids as a Map does, and gives each back', () => {
  fc.assert(
    fc.property(fc.array(fc.array(id, { maxLength: 30 }), { maxLength: 20 }), id, (pages, other) => {
      const numbers = createIdNumbers();
      const model = new Map<string, number>();
      for (const page of pages) {
        const got: number[] = [];
        const expected: number[] = [];
        numbers.number(`[${page.join(',')}]`, (index) => got.push(index));
        for (const each of page) {
          if (!model.has(each)) model.set(each, model.size);
          expected.push(model.get(each) ?? -1);
        }
        expect(got).toEqual(expected);
      }
      expect(numbers.size()).toBe(model.size);
      for (const [each, index] of model)
        expect([numbers.find(each), numbers.idOf(index)]).toEqual([index, each]);
      expect(numbers.find(other)).toBe(model.get(other) ?? -1);
    }),
  );
});

test.each(['[]', '', '[ ]'])('finds no id in "%s"', (text) => {
  const numbers = createIdNumbers();
  numbers.number(text, () => expect.unreachable());
  expect([numbers.size(), numbers.find('1'), numbers.find('')]).toEqual([0, -1, -1]);
});
