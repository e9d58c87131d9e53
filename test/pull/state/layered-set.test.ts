import { expect, test } from 'vitest';
import { createLayeredSet } from '../../../src/pull/state/layered-set.ts';

test('a draft sees what is below it, and what it adds counts only once it is kept', () => {
  const set = createLayeredSet(new Set(['a']));
  const draft = set.draft();
  draft.add('b');
  expect([draft.has('a'), draft.has('b'), set.has('b')]).toEqual([true, true, false]);
  draft.keep();
  expect(set.has('b')).toBe(true);
});
