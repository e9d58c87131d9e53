import { isArray, isNumber, isObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { saysFailed, unwrap } from './envelope.ts';

/**
 * Takes the record out of the answer to a create or an update: `{data: {…}}`, `{data: [{…}]}` or bare.
 *
 * @returns Null if there is no single record with an id, or if the service reports a failure.
 */
export function writtenRecord(body: Json): JsonObject | null {
  if (saysFailed(body)) return null;
  const data = unwrap(body);
  const record = isArray(data) && data.length === 1 ? data[0] : data;
  return isObject(record) && isId(record['id']) ? record : null;
}

function isId(id: Json | undefined): boolean {
  return isNumber(id) || (typeof id === 'string' && id.trim() !== '');
}
