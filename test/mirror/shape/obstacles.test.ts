import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withAllAbove } from '../../../src/mirror/shape/obstacles.ts';
import type { Use } from '../../../src/mirror/shape/obstacles.ts';

const use = (dependent: string, target: string): Use => ({ dependent, target, column: 0 });

test('names what is built on something, and on that, each before what it needs', () => {
  const uses = [use('b', 'a'), use('c', 'b'), use('c', 'a'), use('other', 'else')];
  expect(withAllAbove(uses, ['a'])).toEqual(['c', 'b', 'a']);
});

test('in any graph: nothing twice, nothing left out, and nothing before what is built on it', () => {
  const edge = fc.tuple(fc.nat(12), fc.nat(12)).filter(([a, b]) => a !== b);
  fc.assert(
    fc.property(fc.array(edge), fc.array(fc.nat(12)), (edges, roots) => {
      const uses = edges.map(([a, b]) => use(String(Math.max(a, b)), String(Math.min(a, b))));
      const ordered = withAllAbove(uses, roots.map(String));
      expect(new Set(ordered).size).toBe(ordered.length);
      for (const root of roots) expect(ordered).toContain(String(root));
      for (const { dependent, target } of uses)
        if (ordered.includes(target)) expect(ordered.slice(0, ordered.indexOf(target))).toContain(dependent);
    }),
  );
});
