import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/session/session.ts';
import { CHANGES } from '../../store/tables/change-tables.ts';
import { pickColumns, readNumber, select, type RowOf } from '../../db/rows/rows.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import { insertDeliveries, pendingRecords, recordKey, type ScheduledDelivery } from './delivery-queue.ts';
import { isWantedBy } from './endpoint-store.ts';
import { type WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { webhookIdOf } from '../../store/notifications/notifications.ts';
import { changeType } from './payload.ts';

/** A change event without its contents. */
const EVENT = pickColumns(CHANGES, 'seq', 'kind', 'recordId', 'change', 'observedAt');
type EventHead = RowOf<typeof EVENT>;

/**
 * Schedules the deliveries of events that an endpoint is sent. A delivery whose record has an unsettled delivery, or an earlier one here, waits.
 * @param pending The records with unsettled deliveries, as `recordKey` writes them.
 */
export function scheduleDeliveries(
  events: readonly EventHead[],
  publicId: string,
  pending: ReadonlySet<string>,
): readonly ScheduledDelivery[] {
  const busy = new Set(pending);
  return events.map(({ seq, kind, recordId, change, observedAt }) => {
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
  const { id: endpointId, cursor, publicId, format } = endpoint;
  if (format !== 'json') return { cursor, hasMore: false }; // Its cursor would pass all events for nothing.
  const pageEnd = sql`select seq from changes where seq > ${cursor} order by seq limit 1 offset ${PAGE - 1}`;
  const endOfPage = await readNumber(tx, pageEnd);
  const last = endOfPage ?? Math.max(cursor, await latestSeq(tx));
  const wanted = sql`where seq > ${cursor} and seq <= ${last} and ${isWantedBy(endpoint)} order by seq`;
  const events = await select(tx, EVENT, wanted);
  if (events.length > 0) {
    const ids = events.map((event) => event.recordId);
    const pending = await pendingRecords(tx, endpointId, ids);
    await insertDeliveries(tx, endpointId, scheduleDeliveries(events, publicId, pending), now);
  }
  return { cursor: last, hasMore: endOfPage !== null };
}
