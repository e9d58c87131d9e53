import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdList } from '../../src/audit/findings.ts';

test('a list of ids is the set of what was added, in whatever order, and while it is asked in between', () => {
  const steps = fc.array(
    fc.tuple(
      fc.oneof(fc.bigInt({ min: 0n, max: 40n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      fc.boolean(),
    ),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(steps, (added) => {
      const [list, set] = [createIdList(), new Set<bigint>()];
      for (const [id, asks] of added) {
        if (asks) expect(list.has(id)).toBe(set.has(id));
        list.add(id);
        set.add(id);
        if (asks)
          expect([list.has(id), list.has(id + 1n), list.size()]).toEqual([true, set.has(id + 1n), set.size]);
      }
      expect([...list.values()]).toEqual([...set].sort((a, b) => (a < b ? -1 : 1)));
    }),
  );
});
