import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { withoutNames } from '../outbox/excluded-entries.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-text.ts';
import { bigint, text } from '../../db/rows/engine-column.ts';
import { pick, readRows, select, without } from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../tables/webhook-tables.ts';

/** One event on its way to one endpoint, or settled. */
export type Delivery = RowOf<typeof WEBHOOK_DELIVERIES>;

export type DeliveryState = Delivery['state'];

const LISTED = without(WEBHOOK_DELIVERIES, 'body');

/** A line of the delivery log. */
export interface LoggedDelivery extends RowOf<typeof LISTED> {
  /** The name of its endpoint. */
  readonly endpoint: string;
}

interface DeliveriesWanted {
  /** The name of an endpoint; absent = all. */
  readonly endpoint?: string | undefined;
  /** Absent = all. */
  readonly states?: readonly DeliveryState[] | undefined;
  /** Only deliveries with a lower id: to read on. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The latest deliveries, newest first. */
export async function listDeliveries(db: Queryable, wanted: DeliveriesWanted): Promise<LoggedDelivery[]> {
  const { endpoint, states, before, limit } = wanted;
  const endpoints = await readRows(
    db,
    [bigint('id'), text('name')],
    sql`select id, name from webhook_endpoints`,
  );
  const names = new Map(endpoints.map(({ id, name }) => [id, name]));
  const one = endpoints.find(({ name }) => name === endpoint);
  if (endpoint !== undefined && one === undefined) return [];
  const conditions = [
    sql`true`,
    ...(one === undefined ? [] : [sql`endpoint_id = ${one.id}`]),
    ...(states === undefined ? [] : [sql`state in (${sqlList(states)})`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ];
  const rest = sql`where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`;
  const rows = await select(db, LISTED, rest);
  return rows.map((row) => ({ ...row, endpoint: names.get(row.endpointId) ?? '' }));
}

/** The number of deliveries by endpoint and state; states without any are left out. */
export async function countDeliveries(
  db: Queryable,
): Promise<readonly { readonly endpointId: number; readonly state: DeliveryState; readonly n: number }[]> {
  const columns = [...pick(WEBHOOK_DELIVERIES, 'endpoint_id', 'state').columns, bigint('n')];
  return readRows(
    db,
    columns,
    sql`select endpoint_id, state, count(*) as n from webhook_deliveries group by endpoint_id, state`,
  );
}

/**
 * Takes a kind's excluded fields out of its deliveries. Only news has a body, that of events is made from the events when they
 * are sent; what a receiver answered may quote anything.
 */
export async function removeFromDeliveries(tx: Transaction, kind: Kind): Promise<void> {
  const isOfKind = sql`kind = ${kind.name}`;
  await tx.write(
    sql`update webhook_deliveries set response_start = null where ${isOfKind} and response_start is not null`,
  );
  const withBody = pick(WEBHOOK_DELIVERIES, 'id', 'body');
  for (const { id, body } of await select(tx, withBody, sql`where ${isOfKind} and body is not null`)) {
    const kept = withoutNames(kind, body);
    if (kept !== body) await tx.write(sql`update webhook_deliveries set body = ${kept} where id = ${id}`);
  }
}
