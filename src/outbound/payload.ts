import { isObject, parseJson } from '../lib/json.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Entry } from '../mirror/outbox-store.ts';

/** The fields that an entry wants written, by the names of a write. */
export function payloadOf({ payload }: Pick<Entry, 'payload'>): JsonObject {
  const value = parseJson(payload);
  return isObject(value) ? value : {};
}
