import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalized } from '../../../src/store/tables/search-text.ts';
import { tries } from '../../support/tiers.ts';

/** The meaning of a search text, in as many passes as it has rules. */
const inPasses = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll('œ', 'oe')
    .replaceAll(/[\s\-()./+'’,%_\\\u0300-\u036f]/g, '');

const anyCharacter = fc.oneof(
  fc.integer({ min: 0, max: 0x24f }),
  fc.integer({ min: 0x250, max: 0x3ff }), // Greek: its final sigma depends on what stands beside it.
  fc.constantFrom(0x2019, 0x1e9e, 0xac00, 0xd800, 0xdc00, 0x1f600, 0x05b0, 0x0323),
);
const anyText = fc.array(anyCharacter).map((codes) => String.fromCodePoint(...codes));

test('one pass over a text finds what all passes find', () => {
  fc.assert(
    fc.property(anyText, fc.string({ unit: 'binary' }), (text, other) => {
      for (const one of [text, other, text + other]) expect(normalized(one)).toBe(inPasses(one));
    }),
    { numRuns: tries(2_000) },
  );
});

test.each([
  ['L’Œuvre & Fils, inc.', 'loeuvre&filsinc'],
  ['(514) 555-0199', '5145550199'],
  ['ÀÉÎÖÜ ÿ Ÿ Ç ß İ', 'aeiouyycßi'],
  ['Cafe\u0301', 'cafe'],
])('%j becomes %j', (text, folded) => {
  expect(normalized(text)).toBe(folded);
});
