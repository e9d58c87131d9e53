import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isFalseTombstone,
  judgeListed,
  judgeUnlisted,
  type RecordFacts,
} from '../../src/diff/plan-repairs.ts';

const facts: fc.Arbitrary<RecordFacts> = fc.record({
  lastChange: fc.constantFrom('created', 'updated', 'deleted', 'restored', null),
  isProvenGone: fc.boolean(),
  wasLanded: fc.boolean(),
  mayNeverHaveLanded: fc.boolean(),
  mayBeForgotten: fc.boolean(),
});
const row = fc.constantFrom('none' as const, 'tombstone' as const);

const NOTHING: RecordFacts = {
  lastChange: null,
  isProvenGone: false,
  wasLanded: false,
  mayNeverHaveLanded: false,
  mayBeForgotten: false,
};

describe('a listed record without a live row', () => {
  test('whose last event is not its deletion comes back without an event, whatever else is known', () => {
    fc.assert(
      fc.property(row, facts, (is, known) => {
        fc.pre(known.lastChange !== null && known.lastChange !== 'deleted');
        expect(judgeListed(is, known)).toBe('returned');
      }),
    );
  });

  test('that was deleted is restored, and one that was never landed is created: both are events', () => {
    fc.assert(
      fc.property(row, facts, (is, known) => {
        const wasDeleted =
          known.lastChange === 'deleted' || (known.lastChange === null && known.isProvenGone);
        if (wasDeleted) expect(judgeListed(is, known)).toBe('restored');
        else if (known.lastChange === null && !known.wasLanded)
          expect(judgeListed(is, known)).toBe(
            is === 'tombstone' && known.mayBeForgotten ? 'restored' : 'created',
          );
      }),
    );
  });

  test('is news wherever the books leave it open', () => {
    expect(judgeListed('none', { ...NOTHING, wasLanded: true })).toBe('returned');
    expect(judgeListed('none', { ...NOTHING, wasLanded: true, mayNeverHaveLanded: true })).toBe('created');
    expect(judgeListed('tombstone', { ...NOTHING, wasLanded: true })).toBe('returned');
    expect(judgeListed('tombstone', { ...NOTHING, wasLanded: true, mayBeForgotten: true })).toBe('restored');
  });
});

describe('a live row outside the list', () => {
  test('is taken for a hand’s only where nothing of ours names it, or its deletion was concluded', () => {
    fc.assert(
      fc.property(facts, (known) => {
        const is = judgeUnlisted(known);
        const wasDeleted =
          known.lastChange === 'deleted' || (known.lastChange === null && known.isProvenGone);
        expect(is === 'undeleted').toBe(wasDeleted);
        expect(is === 'inserted').toBe(known.lastChange === null && !known.isProvenGone && !known.wasLanded);
      }),
    );
  });
});

describe('a tombstone of a record that the list does not have', () => {
  test('is left alone where a deletion stands, or may have stood, behind it', () => {
    fc.assert(
      fc.property(facts, (known) => {
        const mayBeOurs =
          known.lastChange === 'deleted' ||
          (known.lastChange === null && (known.isProvenGone || known.mayBeForgotten || !known.wasLanded));
        expect(isFalseTombstone(known)).toBe(!mayBeOurs);
      }),
    );
  });
});
