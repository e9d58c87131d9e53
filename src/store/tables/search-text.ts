import type { Field } from '../../catalog/kind.ts';
import type { SqlValue } from '../../db/session/session.ts';

/** Our column of what records, or elements of their arrays, are found by. */
export const SEARCH_COLUMN = '_search';

/** The fields that people search records by, in every kind and in the elements of its arrays. */
const SEARCH_FIELDS = new Set(
  [
    'code nom name name_fr name_en title label contact product_name',
    'email phone phone2 phone_work contact_phone telephone cell',
    'code_cup product_serialnumber po_num invoice plate vin',
  ].flatMap((names) => names.split(' ')),
);

/** Whether a record is found by this field. */
export const isSearchField = (field: Pick<Field, 'name' | 'type'>): boolean =>
  SEARCH_FIELDS.has(field.name) && field.type !== 'json';

/** Accents, and what people type between the digits of a phone number or a code; `%`, `_` and `\` would be signs of a pattern. */
const LEFT_OUT = /[\s\-()./+'’,%_\\\u0300-\u036f]/g;

/** Folds any text, in several passes. */
const foldSlowly = (text: string): string =>
  text.normalize('NFD').toLowerCase().replaceAll('œ', 'oe').replaceAll(LEFT_OUT, '');

/** What the characters of Latin scripts become, by their codes: each alone, whatever stands beside it. */
const FOLDED = Array.from({ length: 0x250 }, (_, code) => foldSlowly(String.fromCharCode(code)));

/** A text without accents, case and what stands between the digits of a phone number: `(514) 555-0199` is `5145550199`. */
export function normalized(text: string): string {
  let folded = '';
  for (let at = 0; at < text.length; at++) {
    const part = FOLDED[text.charCodeAt(at)];
    if (part === undefined) return foldSlowly(text);
    folded += part;
  }
  return folded;
}

/** A phone number of ten digits as people write it, spaces included; a stored one may lack the country code. */
const PHONE = /(?<!\S)\+?1?[\s\-().]{0,3}(\d{3})[\s\-().]{0,3}(\d{3})[\s\-.]{0,3}(\d{4})(?!\S)/g;

/** The normalized words of a search; a phone number is one. */
export const searchedWords = (text: string): readonly string[] =>
  text
    .replace(PHONE, '$1$2$3')
    .split(/\s+/)
    .map(normalized)
    .filter((word) => word !== '');

/** The search text of a decoded record or element: none if its fields have none that it is found by. */
export function searchTexts(
  fields: readonly Pick<Field, 'name' | 'type'>[],
  values: readonly SqlValue[],
): [] | [string] {
  if (!fields.some(isSearchField)) return [];
  const texts = values.filter((value, at) => {
    const field = fields[at];
    return value !== null && field !== undefined && isSearchField(field);
  });
  return [normalized(texts.join('|'))];
}
