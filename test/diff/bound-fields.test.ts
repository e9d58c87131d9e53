import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import { boundFields, MOST_FIELDS } from '../../src/diff/bound-fields.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const CLIENTS = kindNamed('clients') ?? expect.fail('no clients');
const DOCUMENTED = CLIENTS.fields.map(({ name }) => name);
const names = (count: number, prefix = 'f'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const withFields = (fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.map((name) => [name, 1]));
const known = (fields: readonly string[]) => new Map(fields.map((name) => [name, null]));

test('records are handed on as they are while there is room', () => {
  const records = [withFields(names(MOST_FIELDS - 2)), withFields(['f0', 'one more'])];
  const bounded = boundFields(CLIENTS, known(['known']), records);
  expect(bounded.records).toEqual(records);
  expect(bounded.untracked.size).toBe(0);
});

test('beyond that no further name is tracked, but documented and known ones always are', () => {
  const before = names(MOST_FIELDS, 'known');
  const record = withFields(['new', ...DOCUMENTED, 'known7', 'newer', '__proto__']);
  const bounded = boundFields(CLIENTS, known(before), [record]);
  expect(bounded.records).toEqual([withFields([...DOCUMENTED, 'known7'])]);
  expect([...bounded.untracked]).toEqual(['new', 'newer', '__proto__']);
});

test('a name that no index could hold is not tracked', () => {
  const bounded = boundFields(CLIENTS, known([]), [withFields(['short', 'x'.repeat(3000)])]);
  expect(bounded.records).toEqual([{ short: 1 }]);
});

test('the names tracked over many pages are never more than the bound, and no value is lost below it', () => {
  const pages = fc.array(
    fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 3000 }), { maxLength: 400 }), { maxLength: 3 }),
  );
  fc.assert(
    fc.property(pages, (all) => {
      const seen = new Map<string, null>();
      for (const page of all) {
        const records = page.map((fields) => withFields(fields.map((n) => `f${n}`)));
        const bounded = boundFields(CLIENTS, seen, records);
        for (const [index, record] of bounded.records.entries()) {
          for (const name of Object.keys(record)) seen.set(name, null);
          const left = Object.keys(records[index] ?? {}).filter((name) => !(name in record));
          expect(left.every((name) => bounded.untracked.has(name) && !seen.has(name))).toBe(true);
        }
        expect(seen.size).toBeLessThanOrEqual(MOST_FIELDS);
      }
    }),
    { numRuns: 50 },
  );
});
