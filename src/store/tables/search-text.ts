import type { Field } from '../../catalog/kind.ts';

/** Our column of what records, or elements of their arrays, are found by. */
export const SEARCH_COLUMN = '_found';

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

/** A text without accents, case and what stands between the digits of a phone number: `(514) 555-0199` is `5145550199`. */
export const normalized = (text: string): string =>
  text.normalize('NFD').toLowerCase().replaceAll('œ', 'oe').replaceAll(LEFT_OUT, '');
