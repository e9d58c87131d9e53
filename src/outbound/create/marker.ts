import { createHash } from 'node:crypto';
import type { Kind } from '../../catalog/kind.ts';
import type { Marker } from '../../diff/match.ts';
import { fieldNamed, writeNameOf } from '../../diff/written.ts';
import { isNumber } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';

/** The mark of an entry; null where the kind's settings name no field for it. */
export function markerOf(
  { name }: Kind,
  { key }: Pick<Entry, 'key'>,
  fields: Readonly<Record<string, string>>,
): Marker | null {
  const field = fields[name];
  if (field === undefined) return null;
  return { field, text: `bms-sync:${createHash('sha256').update(key).digest('hex').slice(0, 16)}` };
}

/** Appends the marker to the field's own text. */
export function withMarker(kind: Kind, payload: JsonObject, marker: Marker | null): JsonObject {
  if (marker === null) return payload;
  const field = fieldNamed(kind, marker.field);
  const name = field ? writeNameOf(field) : marker.field;
  const given: Json | undefined = payload[name];
  const isGiven = isNumber(given) || (typeof given === 'string' && given !== '');
  return { ...payload, [name]: isGiven ? `${String(given)} ${marker.text}` : marker.text };
}
