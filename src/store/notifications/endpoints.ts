import type { WEBHOOK_ENDPOINTS } from '../tables/webhook-tables.ts';

/** A receiver of events, without its secrets. */
export type WebhookEndpoint = typeof WEBHOOK_ENDPOINTS.$inferSelect;

/** The notification that an endpoint asks for by naming it among its changes. */
export const ENTRY_DONE = 'entry.done';

/** Whether an endpoint belongs to a program that pushes: it learns what becomes of entries, by its own keys. */
export const followsEntries = ({ changes, format }: WebhookEndpoint): boolean =>
  format === 'json' && changes?.includes(ENTRY_DONE) === true;

export type WebhookFormat = WebhookEndpoint['format'];
