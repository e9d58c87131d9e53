import { expect, test } from 'vitest';
import { nearestName } from '../../../src/lib/text/nearest-name.ts';

const KNOWN = ['code', 'name', 'address', 'address2', 'phone_work', 'term'];

test.each([
  ['nmae', 'name'],
  ['names', 'name'],
  ['Code', 'code'],
  ['phoneWork', 'phone_work'],
  ['adresse', 'address'],
  ['addresss2', 'address2'],
  ['naMé', 'name'],
  ['favourite_colour', undefined],
  ['x', undefined],
  ['', undefined],
])('%s: %s', (name, nearest) => {
  expect(nearestName(name, KNOWN)).toBe(nearest);
});

test('a name of any length is answered at once', () => {
  expect(nearestName('name'.repeat(1_000_000), KNOWN)).toBeUndefined();
});
