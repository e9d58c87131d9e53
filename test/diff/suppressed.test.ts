import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutSuppressed } from '../../src/diff/suppressed.ts';

const ids = fc.array(fc.integer({ min: 1, max: 9 }).map(String), { maxLength: 8 });

test('exactly the suppressed records are left out of a page, in its order', () => {
  fc.assert(
    fc.property(ids, ids, ids, (shown, faulty, kept) => {
      const page = {
        incoming: shown.map((id) => ({ id, raw: `{"id":${id}}`, record: { id } })),
        quarantined: [...faulty, null].map((id) => ({ id, code: 'two_versions' as const, raw: '' })),
      };
      const suppressed = new Set(kept);
      const left = withoutSuppressed(page, suppressed);
      expect(left.incoming).toEqual(page.incoming.filter(({ id }) => !suppressed.has(id)));
      expect(left.quarantined).toEqual(
        page.quarantined.filter(({ id }) => id === null || !suppressed.has(id)),
      );
    }),
  );
});
