import type { Kind } from '../catalog/kind.ts';
import { compactJson } from '../lib/json.ts';
import type { JsonObject } from '../lib/json.ts';
import { shortened } from '../lib/text.ts';
import { decodeField } from './decode-field.ts';
import type { MisfitCode, SqlValue } from './decode-field.ts';

export interface Misfit {
  readonly field: string;
  readonly code: MisfitCode;
  /** The value as received, shortened. */
  readonly detail: string;
}

export interface DecodedRecord {
  /** One value for each of `kind.fields`, in that order. */
  readonly values: readonly SqlValue[];
  readonly misfits: readonly Misfit[];
}

const DETAIL_LENGTH = 200;

/** Decodes the documented fields of a record; a value that fits no rule costs a null and a misfit, never the row. */
export function decodeRecord(kind: Kind, record: JsonObject): DecodedRecord {
  const misfits: Misfit[] = [];
  const values = kind.fields.map((field) =>
    decodeField(field, ownValue(record, field.name), ({ name }, code, value) => {
      misfits.push({ field: name, code, detail: shortened(compactJson(value), DETAIL_LENGTH) });
    }),
  );
  return { values, misfits };
}

/** A member that the record itself has: never `constructor` and its like from the prototype. */
export function ownValue(record: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
