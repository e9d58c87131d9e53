import type { Queryable } from '../../db/session/session.ts';
import { keysOf } from '../../store/outbox/outbox-store.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import type { KeyedChange } from '../read-changes.ts';

export const changeType = (kind: string, change: string): string => `${kind}.${change}`;

/**
 * The body of a change event, in the form of Standard Webhooks.
 *
 * The record's own JSON is inserted as stored: parsing it and writing it again could alter its numbers.
 */
export function changeBody(change: KeyedChange, withKey: boolean): string {
  const observedAt = JSON.stringify(parseInstant(change.observedAt).toISOString());
  const data: readonly (readonly [name: string, json: string])[] = [
    ['seq', JSON.stringify(change.seq)],
    ['kind', JSON.stringify(change.kind)],
    ['recordId', JSON.stringify(change.recordId)],
    ['change', JSON.stringify(change.change)],
    ['before', change.before ?? 'null'],
    ['after', change.after ?? 'null'],
    ['fields', change.fields],
    ['origin', JSON.stringify(change.origin)],
    ...(withKey ? [['key', JSON.stringify(change.key)] as const] : []),
    ['observedAt', observedAt],
  ];
  const members = data.map(([name, json]) => `"${name}":${json}`).join(',');
  return `{"type":${JSON.stringify(changeType(change.kind, change.change))},"timestamp":${observedAt},"data":{${members}}}`;
}

/** The body of a notification; one about an entry gets the key of its caller, which is not stored with it. */
export async function notificationBody(db: Queryable, body: string): Promise<string> {
  const { data, ...head } = JSON.parse(body) as { readonly data: { readonly entryId?: number | null } };
  const { entryId = null } = data;
  if (entryId === null) return body;
  const key = (await keysOf(db, [entryId])).get(entryId) ?? null;
  return JSON.stringify({ ...head, data: { ...data, key } });
}
