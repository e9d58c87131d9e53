import { TYPE, parse, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { expect, test } from 'vitest';
import french from '../../../src/lib/text/locales/fr.json' with { type: 'json' };
import { translateAll, translatorFor } from '../../../src/lib/text/translator.ts';

test('a text is filled in both languages, by names and by texts of both', () => {
  const label = { en: 'Credit', fr: 'Crédit' };
  expect(translateAll('{label}, exact', { label })).toEqual({
    en: 'Credit, exact',
    fr: 'Crédit, valeur exacte',
  });
  expect(translateAll('{field} as text', { field: 'bois' })).toEqual({
    en: 'bois as text',
    fr: 'bois en texte',
  });
});

test('a text with a part that is none is said in pieces, in their order', () => {
  const part = { html: '<b>bois</b>' };
  expect(translatorFor('fr').t('{field} as text', { field: part })).toEqual([part, ' en texte']);
});

test('a state that has no French is said as it is', () => {
  expect(translatorFor('fr').term('constructor')).toBe('constructor');
  expect(translatorFor('fr').term('hours')).toBe('heures');
});

test('numbers are written as Canada writes them in each language', () => {
  expect(translatorFor('en').count(1234567.5)).toBe('1,234,567.5');
  expect(translatorFor('fr').count(1234567.5)).toBe('1\u00a0234\u00a0567,5');
});

const ENTRIES = Object.entries(french);

/** The names of a message, each once: a plural may say one in each of its forms. */
const namesIn = (text: string): string[] =>
  [...new Set(namesOf(parse(text, { ignoreTag: true })))].toSorted();

const namesOf = (elements: readonly MessageFormatElement[]): string[] =>
  elements.flatMap((element) => {
    if (element.type === TYPE.literal || element.type === TYPE.pound || element.type === TYPE.tag) return [];
    const forms = 'options' in element ? Object.values(element.options) : [];
    return [element.value, ...forms.flatMap(({ value }) => namesOf(value))];
  });

const endOf = (text: string): string => /[.…?}\w]$/.exec(text)?.[0].replace(/\w/, 'a letter') ?? text;

test.each(ENTRIES)('%s has the names and the end in French too', (english, text) => {
  expect(namesIn(text)).toEqual(namesIn(english));
  if (/[.…?]$/.test(english)) expect(endOf(text)).toBe(endOf(english));
});

test('French of Quebec: no space before ; ! and ?, one that does not break before a colon', () => {
  const colons = ENTRIES.map(([, text]) => text.replaceAll(/outbox:|::percent/g, '')).filter((text) =>
    /[^\u00a0]:/.test(text),
  );
  expect([...colons, ...ENTRIES.filter(([, text]) => /\s[;!?]|[«»]\S/u.test(text))]).toEqual([]);
});
