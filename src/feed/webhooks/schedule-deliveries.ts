import { sql } from 'drizzle-orm';
import { parseObject } from '../../lib/json/json.ts';
import type { Transaction } from '../../db/session/session.ts';
import { CHANGES } from '../../store/tables/change-tables.ts';
import { pickColumns, select, type RowOf } from '../../db/rows/rows.ts';
import {
  insertDeliveries,
  pendingRecords,
  recordKey,
  type ScheduledDelivery,
} from '../../store/webhooks/delivery-queue.ts';
import type { EventFilter, WebhookEndpoint } from '../../store/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../store/webhooks/notifications.ts';
import { changeType } from './payload.ts';

/** A change event without its contents: filters need no more. */
const EVENT = pickColumns(CHANGES, 'seq', 'kind', 'record_id', 'change', 'observed_at', 'fields');
type EventHead = RowOf<typeof EVENT>;

/** Whether an endpoint is sent a change event. The filter of fields judges updates only: other changes concern all fields. */
export function isWanted(filter: EventFilter, event: EventHead): boolean {
  const { kinds, changes, fields } = filter;
  if (kinds !== null && !kinds.includes(event.kind)) return false;
  if (changes !== null && !changes.includes(event.change)) return false;
  if (fields === null || event.change !== 'updated') return true;
  const changed = parseObject(event.fields);
  return fields.some((field) => Object.hasOwn(changed, field));
}

/**
 * Schedules the deliveries of an endpoint. A delivery whose record has an unsettled delivery, or an earlier one here, waits.
 *
 * @param pending The records with unsettled deliveries, as `recordKey` writes them.
 */
export function scheduleDeliveries(
  events: readonly EventHead[],
  { publicId, ...filter }: EventFilter & Pick<WebhookEndpoint, 'publicId'>,
  pending: ReadonlySet<string>,
): readonly ScheduledDelivery[] {
  const busy = new Set(pending);
  return events
    .filter((event) => isWanted(filter, event))
    .map((event) => {
      const { seq, kind, recordId, change, observedAt } = event;
      const key = recordKey(kind, recordId);
      const state = busy.has(key) ? 'waiting' : 'ready';
      busy.add(key);
      const webhookId = webhookIdOf(publicId, [seq, observedAt]); // A restored mirror may give a `seq` to another event.
      return { webhookId, type: changeType(kind, change), seq, kind, recordId, state };
    });
}

/** How many events are scheduled in one transaction. */
const PAGE = 500;

/** Stores deliveries for the events after the endpoint's cursor. Returns the new cursor and whether more events may follow. */
export async function scheduleNext(tx: Transaction, endpoint: WebhookEndpoint, now: Date) {
  const { id: endpointId, cursor, format } = endpoint;
  if (format !== 'json') return { cursor, hasMore: false }; // People get notifications only.
  const events = await select(tx, EVENT, sql`where seq > ${cursor} order by seq limit ${PAGE}`);
  const ids = events.filter((event) => isWanted(endpoint, event)).map((event) => event.recordId);
  if (ids.length > 0) {
    const pending = await pendingRecords(tx, endpointId, ids);
    await insertDeliveries(tx, endpointId, scheduleDeliveries(events, endpoint, pending), now);
  }
  return { cursor: events.at(-1)?.seq ?? cursor, hasMore: events.length === PAGE };
}
