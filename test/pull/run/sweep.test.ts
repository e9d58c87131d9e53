import { expect, test } from 'vitest';
import { applyEffects, createSweepState, noEffects, noteWrites } from '../../../src/pull/run/sweep.ts';

test('what a transaction has written, seen and requested counts only once its effects are applied', () => {
  const state = createSweepState(new Map([['1', 5]]), ['a'], new Map());
  const before = structuredClone(state);
  const effects = noEffects(state);
  noteWrites(
    effects,
    new Map([
      ['1', 3],
      ['2', 7],
    ]),
  );
  effects.quarantined.add('b');
  effects.fields.set('code', { type: 'text', fitsHint: false, wire: 'text' });
  effects.newestSent = 9;
  expect(state).toEqual(before);
  applyEffects(state, effects);
  expect(state).toEqual({
    dirty: new Map([
      ['1', 5],
      ['2', 7],
    ]),
    latestWrite: 7,
    quarantined: new Set(['a', 'b']),
    fields: effects.fields,
    newestSent: 9,
  });
});
