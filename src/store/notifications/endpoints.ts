import type { SQL } from 'drizzle-orm';
import { select } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { WEBHOOK_ENDPOINTS } from '../tables/webhook-tables.ts';

export type EndpointRow = typeof WEBHOOK_ENDPOINTS.$inferSelect;

/** Which events an endpoint is sent; null = all. */
export interface EventFilter {
  readonly kinds: readonly string[] | null;
  /** Change events only. */
  readonly changes: readonly string[] | null;
  /** Updates only: at least one of these fields changed. */
  readonly fields: readonly string[] | null;
}

/** A receiver of events, without its secrets. */
export interface WebhookEndpoint extends Omit<EndpointRow, keyof EventFilter>, EventFilter {}

/** The notification that an endpoint asks for by naming it among its changes. */
export const ENTRY_DONE = 'entry.done';

/** Whether an endpoint belongs to a program that pushes: it learns what becomes of entries, by its own keys. */
export const followsEntries = ({ changes, format }: WebhookEndpoint): boolean =>
  format === 'json' && changes?.includes(ENTRY_DONE) === true;

export type WebhookFormat = WebhookEndpoint['format'];

/** Reads endpoints. @param rest What follows `select … from webhook_endpoints`. */
export async function readEndpoints(db: Queryable, rest: SQL): Promise<WebhookEndpoint[]> {
  return (await select(db, WEBHOOK_ENDPOINTS, rest)).map(decodeEndpoint);
}

export const decodeEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  ...row,
  kinds: listOf(row.kinds),
  changes: listOf(row.changes),
  fields: listOf(row.fields),
});

const listOf = (json: string | null): readonly string[] | null =>
  json === null ? null : (JSON.parse(json) as readonly string[]);
