import type { Field, Kind } from '../catalog/kind.ts';
import { compactJson, canonicalJson } from '../lib/json/json.ts';
import type { JsonObject, Json } from '../lib/json/json.ts';
import { ownValue, fittingValue } from './decode-record.ts';

export type Change = 'created' | 'updated' | 'deleted' | 'restored';

/** One thing that happened to a record, with its content before and after as compact JSON; null = it was not there. */
export interface ChangeEvent {
  readonly recordId: string;
  readonly change: Change;
  readonly before: string | null;
  readonly after: string | null;
  /** The fields that changed, `{name: [old, new]}` as compact JSON; `{}` for all but updates. */
  readonly fields: string;
  /** No earlier than this it happened; null = unknown. */
  readonly observedFrom: string | null;
}

/** Writes the changes of a record, field by field; a field that one side lacks is null there. */
export function fieldChanges(names: readonly string[], before: JsonObject, after: JsonObject): string {
  const members = names.map((name) => {
    const values = [ownValue(before, name) ?? null, ownValue(after, name) ?? null];
    return `${JSON.stringify(name)}:${compactJson(values)}`;
  });
  return `{${members.join(',')}}`; // No object is made of it: one of 100,000 members takes long.
}

/** Names the fields in which two readings of a record differ, documented or not; spelling and key order do not count. */
export function changedFields(kind: Kind, before: JsonObject, after: JsonObject): readonly string[] {
  const names = [
    ...Object.keys(before),
    ...Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
  ];
  const sent = [...kind.hints, ...kind.fields].filter(({ textOf }) => textOf === undefined);
  const fields = new Map(sent.map((field) => [field.name, field])); // A documented field comes before its hint.
  return names.filter((name) => {
    const [old, young] = [ownValue(before, name), ownValue(after, name)];
    if (old === young) return false;
    const field = fields.get(name);
    if (field === undefined && isPlain(old) && isPlain(young)) return true;
    return canonicalValue(field, old) !== canonicalValue(field, young);
  });
}

/** A value that has one spelling only: numbers that may have another are objects. */
function isPlain(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

/** A text that is equal exactly for equal values: by the field's type, or as JSON where it has none or fits none. */
function canonicalValue(field: Field | undefined, value: Json | undefined): string {
  if (value === undefined) return 'absent';
  if (field === undefined) return canonicalJson(value);
  const decoded = fittingValue(field, value);
  if (decoded === undefined) return `misfit ${canonicalJson(value)}`;
  return decoded === null ? 'none' : `value ${decoded}`; // The text "null" is not null.
}
