import { compactJson } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
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

/** Writes what changed in a record, field by field; a field that one side lacks is null there. */
export function fieldChanges(names: readonly string[], before: JsonObject, after: JsonObject): string {
  const pairs = names.map((name): [string, Json] => [
    name,
    [ownValue(before, name) ?? null, ownValue(after, name) ?? null],
  ]);
  return compactJson(Object.fromEntries(pairs));
}
