import { expect, test } from 'vitest';
import fc from 'fast-check';
import { nearestName, editDistance } from '../../../src/lib/text/nearest-name.ts';

const KNOWN = ['code', 'name', 'address', 'address2', 'phone_work', 'phone', 'term'];

test.each([
  ['nmae', 'name'],
  ['names', 'name'],
  ['Code', 'code'],
  ['phoneWork', 'phone_work'],
  ['adresse', 'address'],
  ['addresss2', 'address2'],
  ['naMé', 'name'],
  ['fone', 'phone'],
  ['favourite_colour', undefined],
  ['x', undefined],
  ['', undefined],
])('%s: %s', (name, nearest) => {
  expect(nearestName(name, KNOWN)).toBe(nearest);
});

test('a name of any length is answered at once', () => {
  expect(nearestName('name'.repeat(1_000_000), KNOWN)).toBeUndefined();
});

test.each([
  ['', '', 0],
  ['name', 'name', 0],
  ['', 'name', 4],
  ['nam', 'name', 1],
  ['naame', 'name', 1],
  ['nome', 'name', 1],
  ['nmae', 'name', 1],
  ['adresse', 'address', 2],
  ['kitten', 'sitting', 3],
  ['😀a', 'a', 1],
])('%s and %s differ by %i', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });

test('it is the same both ways, nought for equal texts alone, and never above the longer text', () => {
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    }),
  );
});

test('one slip of the hand is a distance of one', () => {
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('insert', 'delete', 'replace', 'swap'), (text, at, slip) => {
      const place = at % (text.length + 1);
      const before = text.slice(0, place);
      const after = text.slice(place);
      const slips = {
        insert: `${before}x${after}`,
        delete: before + after.slice(1),
        replace: after === '' ? text : `${before}x${after.slice(1)}`,
        swap: before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2),
      };
      expect(editDistance(text, slips[slip])).toBeLessThanOrEqual(1);
    }),
  );
});
