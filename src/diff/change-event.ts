import { compactJson } from '../lib/json/json.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { ownValue } from './decode-record.ts';

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
