import { roundFloatNoise } from '../lib/json/decimal.ts';
import { isArray, isNumber, isObject, type Json, type JsonObject } from '../lib/json/json.ts';

/**
 * Writes a value in one of the spellings that the service may give it: a list escapes HTML where the single record does not,
 * blanks at the ends come and go, accents are composed or not, and a float adds digits.
 * @param spell Writes a text so.
 */
export function normalizeSpelling(value: Json, spell = normalizeText): Json {
  if (isNumber(value)) return roundFloatNoise(String(value)) ?? value;
  if (typeof value === 'string') return spell(value);
  if (isArray(value)) return value.map((item) => normalizeSpelling(item, spell));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, normalizeSpelling(member, spell)]);
  return Object.fromEntries(members) as JsonObject;
}

/**
 * Writes a text of a natural key as all its spellings have it: without HTML entities, accents composed, each run of blanks one
 * space, none at its ends. Digits stay: the codes `1.10` and `1.1` are two.
 */
export const normalizeKey = (text: string): string => unescapedText(text).replace(BLANKS, ' ').trim();

/** The zero-width space, which is pasted along, is no blank to Unicode. */
const BLANKS = /[\s\p{White_Space}\u200b]+/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  laquo: '«',
  raquo: '»',
  nbsp: '\u00a0',
};
const ACCENTS = { acute: '\u0301', grave: '\u0300', circ: '\u0302', uml: '\u0308', cedil: '\u0327' };

/** A text without HTML entities and without blanks at its ends; a float without what it adds. */
const normalizeText = (text: string): string =>
  roundFloatNoise(text) ?? unescapedText(text).replaceAll('\r\n', '\n').trim();

/** A text without HTML entities, escaped once or twice. */
const unescapedText = (text: string): string => unescaped(unescaped(text)).normalize('NFC');

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .replace(/&#x([\da-f]{1,5});/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(
      /&([A-Za-z])(acute|grave|circ|uml|cedil);/g,
      (_, letter: string, accent: keyof typeof ACCENTS) => letter + ACCENTS[accent],
    )
    .replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
