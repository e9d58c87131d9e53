import fc from 'fast-check';
import { expect, test } from 'vitest';
import { betweenCommas, sameTexts } from '../../../src/lib/text/text-list.ts';

const texts = fc.array(fc.string({ unit: fc.constantFrom('0', '1', '2', '7'), minLength: 1 }), {
  maxLength: 6,
});

test('what stands between commas is what was put there', () => {
  fc.assert(
    fc.property(texts, (list) => {
      const cut = betweenCommas(list.join());
      expect([...cut]).toEqual(list);
      expect(cut.length).toBe(list.length);
      for (let at = -1; at <= list.length; at++) expect(cut.at(at)).toBe(list.at(at));
    }),
  );
});

test('two lists are the same where their texts are, in the same order', () => {
  const related = fc
    .tuple(texts, texts)
    .chain(([a, b]) => fc.constantFrom<[string[], string[]]>([a, a], [a, b], [a, [...a].reverse()]));
  fc.assert(
    fc.property(related, ([a, b]) => {
      const isSame = JSON.stringify(a) === JSON.stringify(b);
      for (const [one, other] of [
        [a, b],
        [a, betweenCommas(b.join())],
        [betweenCommas(a.join()), betweenCommas(b.join())],
      ] as const)
        expect(sameTexts(one, other)).toBe(isSame);
    }),
  );
});
