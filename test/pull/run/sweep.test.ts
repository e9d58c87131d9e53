import { expect, test } from 'vitest';
import { createSweepState } from '../../../src/pull/run/sweep.ts';

test('a draft sees what is below it, and what it adds counts only once it is kept', () => {
  const state = createSweepState({ touched: new Map(), quarantined: new Set(['a']), fields: new Map() });
  const set = state.quarantined;
  const draft = state.draft(new Set());
  draft.quarantined.add('b');
  expect([draft.quarantined.has('a'), draft.quarantined.has('b'), set.has('b')]).toEqual([true, true, false]);
  draft.keep();
  expect(set.has('b')).toBe(true);
});

test('rows that a draft has written, fields that it has seen and its newest request count only once it is kept', () => {
  const state = createSweepState({ touched: new Map([['1', 5]]), quarantined: new Set(), fields: new Map() });
  const draft = state.draft(new Set());
  draft.touched.add(
    new Map([
      ['1', 3],
      ['2', 7],
    ]),
  );
  draft.fields.set('code', { type: 'text', fitsHint: false, wire: 'text' });
  draft.newest.sent = 9;
  expect([draft.touched.lastWrite('1'), draft.touched.lastWrite('2'), draft.touched.latest()]).toEqual([
    5, 7, 7,
  ]);
  expect([
    state.touched.lastWrite('2'),
    state.touched.latest(),
    state.fields.size,
    state.newest.sent,
  ]).toEqual([0, 5, 0, 0]);
  draft.keep();
  expect([
    state.touched.lastWrite('2'),
    state.touched.latest(),
    state.fields.size,
    state.newest.sent,
  ]).toEqual([7, 7, 1, 9]);
});
