import type { Field } from './kind.ts';

/** One short function per type, so that a kind's file reads like the table in the documentation. */

const createFieldType =
  (type: Field['type']) =>
  (name: string, write?: Field['write']): Field =>
    write ? { name, type, write } : { name, type };

export const integerField = createFieldType('integer');
/** An integer that is 0 or 1 (§2.1). */
export const flagField = createFieldType('flag');
export const dateField = createFieldType('date');
export const timeField = createFieldType('time');
export const timestampField = createFieldType('timestamp');
export const textField = createFieldType('text');

export const decimalField = (name: string, scale: number): Field => ({ name, type: 'decimal', scale });

/** A field whose values are ids of another kind's records. */
export const referenceField = (field: Field, kind: string): Field => ({ ...field, refersTo: kind });

/** A comma-separated text such as `15,16`; each part is a value of `part`. */
export const listField = (name: string, part: Field): Field => ({ name, type: 'text', part });

/** Any other nested value; `items` are the fields of the objects in an array, where they are known. */
export const jsonField = (name: string, items?: readonly Field[]): Field =>
  items ? { name, type: 'json', items } : { name, type: 'json' };
