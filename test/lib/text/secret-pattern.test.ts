import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDistinctive, maskSecrets } from '../../../src/lib/text/mask-secrets.ts';
import { LONGEST_SPELLING, secretPattern } from '../../../src/lib/text/secret-pattern.ts';

const inUnicode = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** How programs spell a character, or a text. */
const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'in JSON': inJson,
  'in JSON by PHP': (text) => inJson(text).replaceAll('/', '\\/'),
  'in JSON within JSON': (text) => inJson(inJson(text)),
  'in a URL': encodeURIComponent,
  'in a URL, small letters': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'all escaped in JSON': inUnicode,
  'all escaped in JSON, capital letters': (text) =>
    inUnicode(text).replace(/u(....)/g, (_, code: string) => `u${code.toUpperCase()}`),
  'all escaped in JSON, and logged': (text) => inJson(inUnicode(text)),
  'in HTML': (text) => Array.from(text, (each) => `&#${String(each.codePointAt(0))};`).join(''),
  'in HTML, by hexadecimal numbers': (text) =>
    Array.from(text, (each) => `&#x${(each.codePointAt(0) ?? 0).toString(16)};`).join(''),
};

const secret = fc.string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 }).filter(isDistinctive);

const holdsSecret = (text: string, known: string): boolean => secretPattern(known).test(text);

test.each(Object.entries(SPELLINGS))('a secret is found and blanked out, %s', (_name, spell) => {
  fc.assert(
    fc.property(secret, (known) => {
      const spelled = spell(known);
      expect(spelled.length).toBeLessThanOrEqual(LONGEST_SPELLING * known.length);
      expect(maskSecrets([known])(`before ¦${spelled}¦ after`)).toBe('before ¦[redacted]¦ after');
    }),
  );
  const rare = 'é✓😀 and a word';
  expect(maskSecrets([rare])(`¦${spell(rare)}¦`)).toBe('¦[redacted]¦');
});

test('a secret is found where every character is spelled in another way', () => {
  const ways = Object.values(SPELLINGS);
  fc.assert(
    fc.property(secret, fc.array(fc.nat(ways.length - 1), { minLength: 40 }), (known, choice) => {
      const spelled = Array.from(known, (each, index) => ways[choice[index] ?? 0]?.(each) ?? each).join('');
      expect(holdsSecret(spelled, known)).toBe(true);
    }),
  );
});

test('what is no secret is left as it is', () => {
  fc.assert(
    fc.property(secret, fc.string(), (known, text) => {
      if (text.includes(known)) return;
      expect(maskSecrets([`${known}-and-more`])(text)).toBe(text);
    }),
  );
});

test('a megabyte is looked through in no time, whatever it holds', () => {
  const known = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab';
  for (const piece of ['a', '\\', '%61', '\\u0061', '&#', '0'])
    expect(holdsSecret(piece.repeat(1_000_000 / piece.length), known)).toBe(false);
});
