import type { Field, FieldWrite } from './kind.ts';

/** One short word for each type, so that a kind's file reads like the documentation's table. */

const plain =
  (type: Field['type']) =>
  (name: string, write?: FieldWrite): Field =>
    write ? { name, type, write } : { name, type };

export const integer = plain('integer');
/** An integer that is 0 or 1 (§2.1). */
export const flag = plain('flag');
export const date = plain('date');
export const time = plain('time');
export const timestamp = plain('timestamp');
export const text = plain('text');

export function decimal(name: string, scale: number): Field {
  return { name, type: 'decimal', scale };
}

/** A field whose values are ids of another kind's records. */
export function reference(field: Field, kind: string): Field {
  return { ...field, refersTo: kind };
}

/** A nested object. */
export const object = (name: string): Field => ({ name, type: 'json', isObject: true });

/** Any other nested value; `items` are the fields of the objects in an array, where they are known. */
export function json(name: string, items?: readonly Field[]): Field {
  return items ? { name, type: 'json', items } : { name, type: 'json' };
}
