import { roundFloatNoise } from '../lib/json/decimal.ts';
import { isArray, isNumber, isObject, type Json } from '../lib/json/json.ts';

/**
 * Writes a value in one of the spellings that the service may give it: a list escapes HTML where the single record does not,
 * blanks at the ends come and go, accents are composed or not, and a float adds digits.
 */
export function normalizeSpelling(value: Json): Json {
  if (isNumber(value)) return roundFloatNoise(String(value)) ?? value;
  if (typeof value === 'string') return roundFloatNoise(value) ?? normalizeText(value);
  if (isArray(value)) return value.map(normalizeSpelling);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalizeSpelling(member)]));
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  laquo: '«',
  raquo: '»',
};
const ACCENTS = { acute: '\u0301', grave: '\u0300', circ: '\u0302', uml: '\u0308', cedil: '\u0327' };

/** A text without HTML entities, escaped once or twice, and without blanks at its ends. */
const normalizeText = (text: string): string =>
  unescaped(unescaped(text)).normalize('NFC').replaceAll('\r\n', '\n').trim();

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
