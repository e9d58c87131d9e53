import type { Kind } from '../../catalog/kind.ts';
import { identifier, literal } from '../../db/session/sql-text.ts';
import { nestedTables } from './kind-table.ts';
import type { Dialect } from './kind-table.ts';

/** The fields by which a person looks for a record, in every kind and in the elements of its arrays. */
const FOUND_BY = new Set(
  [
    'code nom name name_fr name_en title label contact product_name',
    'email phone phone2 phone_work contact_phone telephone cell',
    'code_cup product_serialnumber po_num invoice plate vin',
  ].flatMap((names) => names.split(' ')),
);

/** A table in which records of a kind are found. */
export interface FoundTable {
  readonly name: string;
  /** The column with the id of the record. */
  readonly id: 'id' | 'parent_id';
  /** What is searched, as SQL: its texts as `folded` gives them, with a bar between. An index has the same expression. */
  readonly text: string;
}

/** The tables in which records of a kind, as the mirror holds it, are found by their texts. */
export function foundTables(kind: Kind, dialect: Dialect): readonly FoundTable[] {
  const own = { name: kind.name, id: 'id', fields: kind.fields } as const;
  const nested = nestedTables(kind).map(
    ({ name, items }) => ({ name, id: 'parent_id', fields: items }) as const,
  );
  return [own, ...nested].flatMap(({ name, id, fields }) => {
    const texts = fields.filter((field) => FOUND_BY.has(field.name) && field.type !== 'json');
    if (texts.length === 0) return [];
    const parts = texts.map((field) => `coalesce(cast(${identifier(field.name)} as text), '')`);
    return [{ name, id, text: FOLDED[dialect](`lower(${parts.join(` || '|' || `)})`) }];
  });
}

const ACCENTED = {
  a: 'àâäÀÂÄ',
  c: 'çÇ',
  e: 'éèêëÉÈÊË',
  i: 'îïÎÏ',
  n: 'ñÑ',
  o: 'ôöÔÖ',
  u: 'ùûüÙÛÜ',
  oe: 'œŒ',
};

/** A phone number and a code are typed with whatever stands between their digits; `%`, `_` and `\` would be signs of a pattern. */
const LEFT_OUT = " -()./+'’,%_\\";

const FOLD_OF = new Map<string, string>([
  ...Object.entries(ACCENTED).flatMap(([fold, signs]) => Array.from(signs, (sign) => [sign, fold] as const)),
  ...Array.from(LEFT_OUT, (sign) => [sign, ''] as const),
]);

/** A text without accents, case and what stands between the digits of a phone number: `(514) 555-0199` is `5145550199`. */
export const folded = (text: string): string =>
  Array.from(text.toLowerCase(), (sign) => FOLD_OF.get(sign) ?? sign).join('');

const replaced = (text: string, folds: readonly (readonly [sign: string, fold: string])[]): string =>
  folds.reduce((inner, [sign, fold]) => `replace(${inner}, ${literal(sign)}, ${literal(fold)})`, text);

/** `folded` as an expression that an index may have. */
const FOLDED: Record<Dialect, (text: string) => string> = {
  sqlite: (text) => replaced(text, [...FOLD_OF]),
  postgres: (text) => {
    const longer = [...FOLD_OF].filter(([, fold]) => fold.length > 1);
    const signs = [...FOLD_OF].filter(([, fold]) => fold.length === 1);
    const from = signs.map(([sign]) => sign).join('') + LEFT_OUT;
    return `translate(${replaced(text, longer)}, ${literal(from)}, ${literal(signs.map(([, fold]) => fold).join(''))})`;
  },
};
