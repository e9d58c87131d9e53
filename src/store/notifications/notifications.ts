import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { compactJson, type JsonObject } from '../../lib/json/json.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Entry } from '../outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { insertRows, hasRow, select } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES, WEBHOOK_ENDPOINTS } from '../tables/webhook-tables.ts';
import { ENTRY_DONE, followsEntries, type WebhookEndpoint } from './endpoints.ts';

/** Our own notifications: needs, and the alerts that people asked for. */
interface AppNotification {
  readonly type:
    | 'kind.held' // Records have disappeared at once, and wait for a person.
    | `entry.${'parked' | 'rejected' | 'done'}`
    | 'kind.blocked' // The service does not allow us to write it; `entryId`: the entry that it refused.
    | 'kind.stale' // `since`: when its list was last read to its end; null = never.
    | 'field.volatile' // `fields` change with every sweep; `setting`: the line that makes no events of it.
    | 'token.refused' // `since`: the first refusal of these.
    | 'outbox.frozen' // Nothing is sent to the service until a person resumes the sends.
    | 'mirror.damaged' // A check found the database file damaged.
    | 'alert.matched' // Changes match a rule of the setting `alerts`; `seqs`: the first ones.
    | 'digest.daily'; // The needs of the day, and the changes since the digest of the day before.
  /** Without one it concerns all kinds: all endpoints want it. */
  readonly kind?: string | null;
  /** Further facts: members of `data` beside `kind`. They hold no content of a record, which `forget` would have to find. */
  readonly facts: JsonObject;
  /**
   * Names the happening, of which each endpoint is notified once; without one, its instant does. Beside a number it has an instant: a
   * restored mirror gives the number to another row.
   */
  readonly key?: string;
  readonly now: Date;
}

/** An entry of the outbox waits for a person, was refused, or is done. */
export function entryNotification(
  state: 'parked' | 'rejected' | 'done',
  entry: Entry,
  now: Date,
): AppNotification {
  const { id: entryId, kind, operation, recordId, verdict, epoch, createdAt } = entry;
  const facts = { entryId, operation, recordId, verdict };
  return { type: `entry.${state}`, kind, facts, key: `${entryId} ${epoch} ${createdAt}`, now };
}

/** Adds one delivery per endpoint that subscribes to the kind; it waits while the endpoint is disabled (digests: to active ones, by e-mail only). Runs in the transaction that causes the notification. */
export async function addNotification(tx: Transaction, notification: AppNotification): Promise<void> {
  const { type, kind = null, facts, now, key = now.toISOString() } = notification;
  const data = kind === null ? facts : { kind, ...facts };
  const body = compactJson({ type, timestamp: now.toISOString(), data });
  const at = formatInstant(now);
  for (const endpoint of await select(tx, WEBHOOK_ENDPOINTS, sql`order by id`)) {
    if (!wants(endpoint, type, kind)) continue;
    const { id, publicId } = endpoint;
    const webhookId = webhookIdOf(publicId, [type, kind ?? '', key]);
    const isAdded = sql`select 1 from webhook_deliveries where endpoint_id = ${id} and webhook_id = ${webhookId}`;
    if (await hasRow(tx, isAdded)) continue;
    const delivery = { endpointId: id, webhookId, type, kind, body, nextAttemptAt: at, createdAt: at };
    await insertRows(tx, WEBHOOK_DELIVERIES, [delivery]);
  }
}

function wants(endpoint: WebhookEndpoint, type: AppNotification['type'], kind: string | null): boolean {
  const { kinds, format, state } = endpoint;
  if (type === 'digest.daily' && (format !== 'email' || state !== 'active')) return false;
  if (type === ENTRY_DONE && !followsEntries(endpoint)) return false;
  return kinds === null || kind === null || kinds.includes(kind);
}

/** The id under which an endpoint gets an event, on every attempt and every replay. */
export function webhookIdOf(publicId: string, parts: readonly (string | number)[]): string {
  return `msg_${hash('sha256', JSON.stringify([publicId, ...parts])).slice(0, 32)}`;
}
