import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupAnswers, slicesOf } from '../../../src/pull/land/land-records.ts';

const MOST_ROWS = 200;
const MOST_TEXT = 150_000;

const incoming = fc
  .array(fc.oneof(fc.nat(3_000), fc.integer({ min: 100_000, max: 400_000 })), { maxLength: 600 })
  .map((lengths) =>
    lengths.map((length, at) => ({ id: String(at + 1), raw: 'x'.repeat(length), record: {} })),
  );

test('slices hold all records in their order, and a record that is too long for a slice stands alone', () => {
  fc.assert(
    fc.property(incoming, (records) => {
      const slices = [...slicesOf(records)];
      expect(slices.flat().map(({ id }) => id)).toEqual(records.map(({ id }) => id));
      for (const slice of slices) {
        const text = slice.reduce((sum, { raw }) => sum + raw.length, 0);
        expect(slice.length).toBeGreaterThan(0);
        expect(slice.length).toBeLessThanOrEqual(MOST_ROWS);
        if (slice.length > 1) expect(text).toBeLessThanOrEqual(MOST_TEXT);
      }
    }),
    { numRuns: 50 },
  );
});

const answer = fc.record({
  incoming: fc.constant([]),
  quarantined: fc.constant([]),
  sent: fc.constant(1),
  answered: fc.constant(2),
  seen: fc.uniqueArray(fc.nat(60).map(String), { maxLength: 8 }),
  text: fc.oneof(fc.nat(9_000), fc.integer({ min: 1_000_000, max: 6_000_000 })),
  fields: fc.constant([]),
});

test('groups hold all answers in their order, no record twice, and a long answer stands alone', () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 12 }), (answers) => {
      const groups = [...groupAnswers(answers)];
      expect(groups.flat()).toEqual(answers);
      for (const group of groups) {
        const ids = group.flatMap(({ seen }) => seen);
        expect(new Set(ids).size).toBe(ids.length);
        const text = group.reduce((sum, one) => sum + one.text, 0);
        if (group.length !== 1) expect(text).toBeLessThanOrEqual(4_000_000);
      }
    }),
    { numRuns: 200 },
  );
});
