import type { Field, FieldType } from '../catalog/kind.ts';

const WORDS: Record<FieldType, string> = {
  integer: 'whole number',
  flag: 'flag, 0 or 1',
  decimal: 'amount',
  date: 'date',
  time: 'time of day',
  timestamp: 'date and time',
  text: 'text',
  json: 'nested value',
};

/** The type of a field in words: `amount with 2 places`. */
export function typeWords({ type, scale, items, refersTo }: Field): string {
  if (refersTo !== undefined) return `id of ${refersTo}`;
  if (type === 'decimal' && scale !== undefined) return `amount with ${scale} places`;
  return items === undefined ? WORDS[type] : 'list of entries';
}

const FORMS: Record<FieldType, string> = {
  integer: 'whole number',
  flag: '0 or 1',
  decimal: 'number, or text such as "10.50"',
  date: '"YYYY-MM-DD"',
  time: '"HH:MM" or "HH:MM:SS"',
  timestamp: '"YYYY-MM-DD HH:MM:SS"',
  text: 'text',
  json: 'array or object',
};

/** The form in which a value is written. */
export function formWords({ type, write }: Field): string {
  if (write?.as === 'HH:MM') return '"HH:MM", without seconds';
  return write?.as === 'text' && type !== 'text' ? `${FORMS[type]}, sent as text` : FORMS[type];
}
