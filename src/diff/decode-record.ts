import type { Field, Kind } from '../catalog/kind.ts';
import { compactJson } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { isStorable, shortened } from '../lib/text.ts';
import { columnDecoder } from './decode-field.ts';
import type { MisfitCode, SqlValue } from './decode-field.ts';

interface Misfit {
  readonly field: string;
  readonly code: MisfitCode;
  /** The value as received, shortened. */
  readonly detail: string;
}

interface DecodedRecord {
  /** One value for each of `kind.fields`, in that order. */
  readonly values: readonly SqlValue[];
  readonly misfits: readonly Misfit[];
}

const DETAIL_LENGTH = 200;

/** Decodes the fields of a record; a value that fits no rule costs a null and a misfit, never the row. */
export function decodeRecord(kind: Kind, record: JsonObject): DecodedRecord {
  return recordDecoder(kind)(record);
}

/** Makes the decoder of a kind, for many records. */
export function recordDecoder(kind: Kind): (record: JsonObject) => DecodedRecord {
  const columns = kind.fields.map((field) => ({ ...field, decode: columnDecoder(field) }));
  return (record) => {
    const misfits: Misfit[] = [];
    const lost = new Map<string, Json>();
    const onMisfit = ({ name }: Field, code: MisfitCode, value: Json): void => {
      misfits.push({ field: name, code, detail: shortened(compactJson(value), DETAIL_LENGTH) });
      if (code !== 'more_places') lost.set(name, value);
    };
    // A column of texts stands behind the field whose misfits it keeps.
    const values = columns.map(({ name, textOf: field, decode }) =>
      field === undefined ? decode(ownValue(record, name), onMisfit) : textOf(lost.get(field)),
    );
    return { values, misfits };
  };
}

/**
 * A lost value as text: a string unchanged, any other value as JSON; null for an empty string and for text that no
 * database can store.
 */
function textOf(value: Json | undefined): string | null {
  if (value === undefined || value === '') return null;
  const text = typeof value === 'string' ? value : compactJson(value);
  return isStorable(text) ? text : null;
}

/** A member that the record itself has: never `constructor` and its like from the prototype. */
export function ownValue(record: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
