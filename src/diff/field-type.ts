import { decodeField } from './decode-field.ts';
import type { FieldType } from '../catalog/kind.ts';
import { isNumber } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';

/** The type that an undocumented field has shown so far; `none` while only nulls came. */
export type SeenType = 'none' | Exclude<FieldType, 'flag' | 'time'>;

/** The types that scalar text may have, narrowest first. */
const POINTED = /^-?(?:0|[1-9]\d*)\.\d+$/;
const TEXT_TYPES = ['integer', 'decimal', 'date', 'timestamp'] as const;

/** The narrowest type that fits one value: integer, decimal (text with a point), date, timestamp, text; json if nested. */
export function seenType(value: Json): SeenType {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return 'text';
  if (isNumber(value)) return fits('integer', value) ? 'integer' : 'decimal';
  if (typeof value !== 'string') return 'json';
  // Text is a decimal only with a point: leading zeros are part of a code, not of a number.
  return (
    TEXT_TYPES.find((type) => fits(type, value) && (type !== 'decimal' || POINTED.test(value))) ?? 'text'
  );
}

/** The narrowest type that fits whatever fitted either. */
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
