import type { Queryable } from '../../db/session/session.ts';
import { keysOf } from '../../store/outbox/outbox-store.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { eventJson, type KeyedChange } from '../read-changes.ts';

export const changeType = (kind: string, change: string): string => `${kind}.${change}`;

/** The body of a change event, in the form of Standard Webhooks. */
export function changeBody(event: KeyedChange, withKey: boolean): string {
  const { seq, kind, recordId, change, origin, key } = event;
  const observedAt = parseInstant(event.observedAt).toISOString();
  const end = { origin, ...(withKey && { key }), observedAt };
  const data = eventJson({ seq, kind, recordId, change }, event, end);
  return `{"type":${JSON.stringify(changeType(kind, change))},"timestamp":"${observedAt}","data":${data}}`;
}

/** The body of a notification; one about an entry gets the key of its caller, which is not stored with it. */
export async function notificationBody(db: Queryable, body: string): Promise<string> {
  const { data, ...head } = JSON.parse(body) as { readonly data: { readonly entryId?: number | null } };
  const { entryId = null } = data;
  if (entryId === null) return body;
  const key = (await keysOf(db, [entryId])).get(entryId) ?? null;
  return JSON.stringify({ ...head, data: { ...data, key } });
}
