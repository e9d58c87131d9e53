import { sentField } from '../catalog/kind.ts';
import type { Field, Kind } from '../catalog/kind.ts';
import { canonicalJson } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { decodeField } from './decode-field.ts';
import type { MisfitCode } from './decode-field.ts';
import { ownValue } from './decode-record.ts';

/** Names the fields in which two readings of a record differ, documented or not; spelling and key order are nothing. */
export function changedFields(kind: Kind, before: JsonObject, after: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => {
    const field = sentField(kind, name);
    return canonicalValue(field, ownValue(before, name)) !== canonicalValue(field, ownValue(after, name));
  });
}

/** A text that is equal exactly for equal values: by the field's type, or as JSON where it has none or fits none. */
function canonicalValue(field: Field | undefined, value: Json | undefined): string {
  if (value === undefined) return 'absent';
  if (field === undefined) return canonicalJson(value);
  const misfits: MisfitCode[] = [];
  const decoded = decodeField(field, value, (_field, code) => misfits.push(code));
  if (misfits.some((code) => code !== 'more_places')) return `misfit ${canonicalJson(value)}`;
  return decoded === null ? 'none' : `value ${decoded}`; // The text "null" is not null.
}
