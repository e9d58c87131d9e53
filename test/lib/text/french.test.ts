import { expect, test } from 'vitest';
import french from '../../../locales/fr.json' with { type: 'json' };
import { bilingual } from '../../../src/lib/text/french.ts';

test('a text is filled in both languages, by names and by texts of both', () => {
  const label = { en: 'Credit', fr: 'Crédit' };
  expect(bilingual('{label}, exact', { label })).toEqual({
    en: 'Credit, exact',
    fr: 'Crédit, valeur exacte',
  });
  expect(bilingual('{field} as text', { field: 'bois' })).toEqual({
    en: 'bois as text',
    fr: 'bois en texte',
  });
});

test('a text without French stays English, and an unknown name as it is', () => {
  const text = 'constructor of {nobody}';
  expect(bilingual(text)).toEqual({ en: text, fr: text });
});

const ENTRIES = Object.entries(french);
const namesIn = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
const endOf = (text: string): string => /[.…}\w]$/.exec(text)?.[0].replace(/\w/, 'a letter') ?? text;

test.each(ENTRIES)('%s has the names and the end in French too', (english, text) => {
  expect(namesIn(text)).toEqual(namesIn(english));
  expect(endOf(text)).toBe(endOf(english));
});

test('French of Quebec: no space before ; ! and ?, one that does not break before a colon', () => {
  const colons = ENTRIES.map(([, text]) => text.replaceAll('outbox:', '')).filter((text) =>
    /[^\u00a0]:/.test(text),
  );
  expect([...colons, ...ENTRIES.filter(([, text]) => /\s[;!?]|[«»]\S/u.test(text))]).toEqual([]);
});
