import type { Field } from './kind.ts';

/** One short word for each type, so that a kind's file reads like the documentation's table. */

const plain =
  (type: Field['type']) =>
  (name: string, write?: Field['write']): Field =>
    write ? { name, type, write } : { name, type };

export const integer = plain('integer');
/** An integer that is 0 or 1 (§2.1). */
export const flag = plain('flag');
export const date = plain('date');
export const time = plain('time');
export const timestamp = plain('timestamp');
export const text = plain('text');

export const decimal = (name: string, scale: number): Field => ({ name, type: 'decimal', scale });

/** A field whose values are ids of another kind's records. */
export const reference = (field: Field, kind: string): Field => ({ ...field, refersTo: kind });

/** A text such as `15,16`, whose parts are values of a field. */
export const listed = (name: string, part: Field): Field => ({ name, type: 'text', part });

/** A record of another kind: its id, or an object with it. */
export const recordOf = (name: string, kind: string): Field => ({
  name,
  type: 'json',
  isObject: true,
  recordOf: kind,
});

/** Any other nested value; `items` are the fields of the objects in an array, where they are known. */
export const json = (name: string, items?: readonly Field[]): Field =>
  items ? { name, type: 'json', items } : { name, type: 'json' };

/** An array without documented fields; `itemHints` are some of those that were seen in its objects. */
export const seenArray = (name: string, itemHints: readonly Field[]): Field => ({
  name,
  type: 'json',
  itemHints,
});
