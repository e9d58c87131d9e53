import { getTableName, sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { withoutNames } from '../../store/outbox/excluded-entries.ts';
import type { Queryable, Transaction, SqlValue } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import {
  countUpTo,
  insertRows,
  omitColumns,
  pickColumns,
  readInChunks,
  readNumber,
  readRows,
  select,
  upsertRows,
  type RowOf,
} from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../../store/tables/webhook-tables.ts';
import { URGENT_TYPES } from '../../store/notifications/notification-types.ts';
import { latestPlausible, formatInstant } from '../../lib/time/clock.ts';
import { daysBefore } from '../../lib/time/zone-offset.ts';
import type { TableOwner } from '../../store/records/table-owner.ts';

/** A change event that an endpoint is to be sent. */
export type ScheduledDelivery = Pick<Delivery, 'webhookId' | 'type' | 'seq' | 'kind' | 'recordId' | 'state'>;

/** Stores the planned deliveries of an endpoint, in the order in which their events happened. */
export async function insertDeliveries(
  tx: Transaction,
  endpointId: number,
  scheduled: readonly ScheduledDelivery[],
  now: Date,
): Promise<void> {
  const createdAt = formatInstant(now);
  const rows = scheduled.map((delivery) => {
    const nextAttemptAt = delivery.state === 'ready' ? createdAt : null;
    return { ...delivery, endpointId, nextAttemptAt, createdAt };
  });
  await insertRows(tx, WEBHOOK_DELIVERIES, rows);
}

const PENDING = sql`state in ('ready', 'waiting')`;
const PENDING_STATES: readonly SqlValue[] = ['ready', 'waiting'];

/** The records with one of these ids that have an unsettled delivery, as `recordKey` writes them. */
export async function pendingRecords(db: Queryable, endpointId: number, recordIds: readonly string[]) {
  const columns = pickColumns(WEBHOOK_DELIVERIES, 'kind', 'recordId');
  const rows = await readInChunks([...new Set(recordIds)], (some) =>
    select(db, columns, sql`where endpoint_id = ${endpointId} and ${PENDING} and record_id in (${some})`),
  );
  return new Set(rows.map(({ kind, recordId }) => recordKey(kind, recordId)));
}

export const recordKey = (kind: string | null, recordId: string | null): string =>
  JSON.stringify([kind, recordId]);

/** Removes the unsettled deliveries of events after a `seq`: a replay plans them again. */
export async function dropPendingAfter(tx: Transaction, endpointId: number, after: number): Promise<void> {
  await tx.query(sql`
    delete from webhook_deliveries where endpoint_id = ${endpointId} and ${PENDING} and seq > ${after}`);
}

/** A delivery that a clock which was ahead has put off is due, too. */
export const isDueDelivery = (now: Date) => sql`state = 'ready' and (next_attempt_at <= ${formatInstant(now)}
  or coalesce(attempted_at, created_at) > ${formatInstant(latestPlausible(now))})`;

/** Urgent notifications of a type share letters: no second one of the type within this time. */
const URGENT_PAUSE_MS = 600_000;

/** Finds the urgent deliveries of an endpoint that a pause between letters does not keep back. */
export const urgentDeliveries = (endpointId: SQL, now: Date): SQL => sql`
  select 1 as found from webhook_deliveries d where d.endpoint_id = ${endpointId} and ${isDueDelivery(now)}
    and d.type in (${sqlList(URGENT_TYPES)}) and not exists (
      select 1 from webhook_deliveries sent where sent.endpoint_id = d.endpoint_id and sent.type = d.type
        and sent.delivered_at > ${formatInstant(new Date(now.getTime() - URGENT_PAUSE_MS))})`;

const LONGEST_PAUSE_MS = 900_000;

/** The end of a pause of an endpoint; one later than this was written by a clock that was ahead. */
export const latestPause = (now: Date): string =>
  formatInstant(latestPlausible(new Date(now.getTime() + LONGEST_PAUSE_MS)));

/** Deliveries of an endpoint that may be sent now, oldest first. `except`: deliveries being sent now. */
export async function readyDeliveries(
  db: Queryable,
  endpointId: number,
  { except, now, limit }: { except: readonly number[]; now: Date; limit: number },
): Promise<Delivery[]> {
  const notExcepted = except.length === 0 ? sql`` : sql` and id not in (${sqlList(except)})`;
  const first = sql`
    where endpoint_id = ${endpointId} and ${isDueDelivery(now)}${notExcepted}
    order by id limit ${limit}`;
  return select(db, WEBHOOK_DELIVERIES, first);
}

/** A delivery as it was read, and what becomes of it. */
export interface DeliveryOutcome {
  readonly delivery: Delivery;
  readonly patch: Partial<Omit<Delivery, 'id' | 'endpointId' | 'webhookId' | 'createdAt' | 'body'>>;
}

/**
 * Writes how attempts changed deliveries of an endpoint, and makes the next ones of their records ready. One that a replay, an erasure
 * or its endpoint's removal took away stays away. A body stays as it is stored: excluded fields may have been taken out of it since.
 */
export async function writeOutcomes(tx: Transaction, outcomes: readonly DeliveryOutcome[], now: Date) {
  const [first] = outcomes;
  if (first === undefined) return;
  const ids = outcomes.map((outcome) => String(outcome.delivery.id));
  const present = await tx.readRowsById(getTableName(WEBHOOK_DELIVERIES), ['state', 'body'], ids);
  const rows = outcomes.flatMap((outcome) => {
    const [state = null, body = null] = present.get(String(outcome.delivery.id)) ?? [];
    if (!PENDING_STATES.includes(state)) return [];
    return [{ ...outcome.delivery, ...outcome.patch, body: body === null ? null : String(body) }];
  });
  await upsertRows(tx, WEBHOOK_DELIVERIES, rows);
  const recordIds = outcomes.flatMap((outcome) => outcome.delivery.recordId ?? []);
  for (const some of inChunks([...new Set(recordIds)]))
    await tx.write(sql`
      update webhook_deliveries set state = 'ready', next_attempt_at = ${formatInstant(now)}
      where state = 'waiting' and id in (select min(id) from webhook_deliveries
        where endpoint_id = ${first.delivery.endpointId} and record_id in (${sqlList(some)}) and ${PENDING}
        group by kind, record_id)`);
}

/** Makes the deliveries due now that wait for a later attempt. */
export async function retryNow(tx: Transaction, endpointId: number, now: Date): Promise<void> {
  await tx.write(sql`
    update webhook_deliveries set next_attempt_at = ${formatInstant(now)}
    where endpoint_id = ${endpointId} and state = 'ready' and next_attempt_at > ${formatInstant(now)}`);
}

/** The first event that an endpoint has not taken, tried or planned since an instant (null = ever); null if there is none. */
export async function firstUndelivered(db: Queryable, endpointId: number, since: string | null) {
  const isRecent = since === null ? sql`` : sql` and (attempted_at is null or attempted_at >= ${since})`;
  const undelivered = sql`endpoint_id = ${endpointId} and state in ('ready', 'waiting', 'failed')${isRecent}`;
  return readNumber(db, sql`select min(seq) from webhook_deliveries where ${undelivered}`);
}

/** One event on its way to one endpoint, or settled. */
export type Delivery = typeof WEBHOOK_DELIVERIES.$inferSelect;

const LOGGED = { ...omitColumns(WEBHOOK_DELIVERIES, 'body'), endpoint: String };

/** A line of the delivery log, with the name of its endpoint. */
export type LoggedDelivery = RowOf<typeof LOGGED>;

interface DeliveriesWanted {
  /** The name of an endpoint; absent = all. */
  readonly endpoint?: string | undefined;
  /** Only deliveries with a lower id: to read on. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The latest deliveries, newest first, and how many there are, as far as they are counted. */
export async function listDeliveries(db: Queryable, wanted: DeliveriesWanted) {
  const { endpoint, before, limit } = wanted;
  const ofEndpoint = endpoint === undefined ? sql`` : sql`where e.name = ${endpoint}`;
  const all = sql`webhook_deliveries as d join webhook_endpoints as e on e.id = d.endpoint_id ${ofEndpoint}`;
  const older = before === undefined ? sql`` : sql`where id < ${before}`;
  const latest = sql`select * from (select d.*, e.name as endpoint from ${all}) as d ${older} order by id desc limit ${limit}`;
  return { read: await readRows(db, LOGGED, latest), total: await countUpTo(db, all) };
}

/**
 * Removes a kind's excluded fields from its deliveries. Only notifications have a stored body: that of an event is made when it is
 * sent. The answer of a receiver may quote anything, so it is removed.
 */
async function removeFromDeliveries(tx: Transaction, kind: Kind): Promise<void> {
  const isOfKind = sql`kind = ${kind.name}`;
  await tx.write(
    sql`update webhook_deliveries set response_start = null where ${isOfKind} and response_start is not null`,
  );
  const withBody = pickColumns(WEBHOOK_DELIVERIES, 'id', 'body');
  for (const { id, body } of await select(tx, withBody, sql`where ${isOfKind} and body is not null`)) {
    const cleanedBody = withoutNames(kind, body);
    if (cleanedBody !== body)
      await tx.write(sql`update webhook_deliveries set body = ${cleanedBody} where id = ${id}`);
  }
}

export const endpointTables: TableOwner = {
  prune: async (tx, { deliveriesDays }, now) => {
    // Without a delivery that is not settled, those behind it would wait for ever.
    if (deliveriesDays !== null)
      await tx.query(sql`
        delete from webhook_deliveries where created_at < ${formatInstant(daysBefore(now, deliveriesDays))}
          and state in ('delivered', 'failed', 'dropped')`);
    // Secrets whose overlap has ended.
    await tx.query(sql`delete from webhook_secrets where expires_at <= ${formatInstant(now)}`);
  },
  exclude: removeFromDeliveries,
};
