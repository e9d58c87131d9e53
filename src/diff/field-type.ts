import { decodeField } from './decode-field.ts';
import type { FieldType } from '../catalog/kind.ts';
import { isNumber } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';

/** The type that an undocumented field has shown so far; `none` while it was always null. */
export type SeenType = 'none' | Exclude<FieldType, 'flag' | 'time'>;

const POINTED = /^-?(?:0|[1-9]\d*)\.\d+$/;

/** The types that a number may show, and those of a text, each narrowest first. */
const NUMBER_TYPES = ['integer', 'decimal'] as const;
const TEXT_TYPES = ['decimal', 'date', 'timestamp'] as const;

/**
 * The narrowest type that fits one value: integer (a JSON number), decimal (a number, or text with a point), date,
 * timestamp, text; json if nested. Digits in quotes are text: they may be a code, and a later code may begin with a
 * zero.
 */
export function seenType(value: Json): SeenType {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return 'text';
  if (isNumber(value)) return NUMBER_TYPES.find((type) => fits(type, value)) ?? 'text';
  if (typeof value !== 'string') return 'json';
  return (
    TEXT_TYPES.find((type) => fits(type, value) && (type !== 'decimal' || POINTED.test(value))) ?? 'text'
  );
}

/** The narrowest type that fits all values of both types. */
export function widerType(a: SeenType, b: SeenType): SeenType {
  if (a === b || b === 'none') return a;
  if (a === 'none') return b;
  if (a === 'json' || b === 'json') return 'json';
  return [a, b].every((type) => type === 'integer' || type === 'decimal') ? 'decimal' : 'text';
}

function fits(type: FieldType, value: Json): boolean {
  let fitting = true;
  decodeField({ name: '', type }, value, () => {
    fitting = false;
  });
  return fitting;
}
