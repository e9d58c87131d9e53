import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdSet } from '../../src/diff/id-set.ts';

const LARGEST = 2n ** 63n - 1n;

test('holds each id once, up to the largest', () => {
  const near = fc.bigInt({ min: 1n, max: 100n });
  const id = fc.oneof(
    near,
    fc.bigInt({ min: 1n, max: LARGEST }),
    near.map((back) => 2n ** 53n + 50n - back),
  );
  fc.assert(
    fc.property(fc.array(id.map(String)), fc.array(id.map(String)), (added, others) => {
      const ids = createIdSet();
      for (const each of added) ids.add(each);
      const expected = new Set(added);
      expect(ids.size()).toBe(expected.size);
      expect(new Set(ids.ids())).toEqual(expected);
      for (const each of [...added, ...others]) expect(ids.has(each)).toBe(expected.has(each));
    }),
  );
});
