import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { HoldClock } from '../../diff/hold-clock.ts';
import { compactJson, type JsonObject } from '../../lib/json/json.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Entry } from '../outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { insertRows, hasRow } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../tables/webhook-tables.ts';
import { ENTRY_DONE, followsEntries, readEndpoints, type WebhookEndpoint } from './endpoint-store.ts';

/** Fields that change in every sweep, such as `clients.last_seen`, and the setting that ignores them. */
export interface VolatileFields {
  readonly fields: readonly string[];
  readonly setting: string;
}

/** Our own notifications: needs, and the alerts that people asked for. */
interface AppNotification {
  readonly type:
    | 'kind.held'
    | `entry.${'parked' | 'rejected' | 'done'}`
    | 'kind.blocked'
    | 'kind.stale'
    | 'field.volatile'
    | 'token.refused'
    | 'outbox.frozen'
    | 'mirror.damaged'
    | 'alert.matched'
    | 'digest.daily';
  /** Null if it concerns all kinds: all endpoints want it. */
  readonly kind: string | null;
  /** Further facts: members of `data` beside `kind`. They hold no content of a record, which `forget` would have to find. */
  readonly facts: JsonObject;
  /** Names the happening; each endpoint is notified of it once. */
  readonly key: string;
  readonly now: Date;
}

/** Records of a kind have disappeared at once, and wait for a person. */
export function heldNotification(kind: string, hold: HoldClock, now: Date): AppNotification {
  const facts = { records: hold.records, since: hold.since.toISOString() };
  return { type: 'kind.held', kind, facts, key: `${facts.since} ${facts.records}`, now };
}

/** An entry of the outbox waits for a person, was refused, or is done. */
export function entryNotification(
  state: 'parked' | 'rejected' | 'done',
  entry: Entry,
  now: Date,
): AppNotification {
  const { id: entryId, kind, operation, recordId, verdict, epoch } = entry;
  const facts = { entryId, operation, recordId, verdict };
  return { type: `entry.${state}`, kind, facts, key: `${entryId} ${epoch}`, now };
}

/** The service refuses our token. @param since The first time of these. */
export const refusedNotification = (since: string, now: Date): AppNotification => {
  return { type: 'token.refused', kind: null, facts: { since }, key: since, now };
};

/** The service does not allow us to write a kind. @param entry The one that it refused. */
export function blockedNotification(
  kind: string,
  reason: string,
  now: Date,
  entry?: Pick<Entry, 'id' | 'recordId'>,
): AppNotification {
  const facts = { reason, entryId: entry?.id ?? null, recordId: entry?.recordId ?? null };
  return { type: 'kind.blocked', kind, facts, key: now.toISOString(), now };
}

/** A scheduled kind was not read to its end for long. @param since When it last was; null = never. */
export function staleNotification(kind: string, since: Date | null, now: Date): AppNotification {
  const at = since?.toISOString() ?? null;
  return { type: 'kind.stale', kind, facts: { since: at }, key: String(at), now };
}

/** Fields, as `clients.last_seen`, change with every sweep; the line of the settings makes no events of it. */
export function volatileNotification(
  kind: string | null,
  volatile: VolatileFields,
  now: Date,
): AppNotification {
  const facts = { fields: volatile.fields.join(', '), setting: volatile.setting };
  return { type: 'field.volatile', kind, facts, key: now.toISOString(), now };
}

/** Nothing is sent to the service until a person resumes the sends. */
export const frozenNotification = (
  reason: string,
  now: Date,
  unknown?: readonly string[],
): AppNotification => {
  const facts = unknown === undefined ? { reason } : { reason, unknown };
  return { type: 'outbox.frozen', kind: null, facts, key: now.toISOString(), now };
};

/** A check found the database file damaged. */
export const damagedNotification = (reason: string, now: Date): AppNotification => {
  return { type: 'mirror.damaged', kind: null, facts: { reason }, key: reason, now };
};

/** The facts of an alert: a rule, the first events that match it, and how many there are. */
interface AlertFacts {
  readonly kind: string;
  readonly field: string;
  readonly above?: string | undefined;
  readonly below?: string | undefined;
  readonly seqs: readonly number[];
  readonly changes: number;
}

/** Changes match a rule of the setting `alerts`. */
export function alertNotification(alertFacts: AlertFacts, now: Date): AppNotification {
  const { kind, field, above, below, seqs, changes } = alertFacts;
  const is = above === undefined ? (below === undefined ? 'changed' : 'below') : 'above';
  const facts = { field, is, limit: above ?? below ?? null, changes, seqs };
  return { type: 'alert.matched', kind, facts, key: JSON.stringify(facts), now };
}

/** The needs of the day, and the changes since the digest of the day before. */
export const digestNotification = (facts: JsonObject, day: string, now: Date): AppNotification => {
  return { type: 'digest.daily', kind: null, facts, key: day, now };
};

/** Adds one delivery per endpoint that subscribes to the kind; it waits while the endpoint is disabled (digests: to active ones, by e-mail only). Runs in the transaction that causes the notification. */
export async function addNotification(tx: Transaction, notification: AppNotification): Promise<void> {
  const { type, kind, facts, key, now } = notification;
  const data = kind === null ? facts : { kind, ...facts };
  const body = compactJson({ type, timestamp: now.toISOString(), data });
  const at = formatInstant(now);
  const endpoints = await readEndpoints(tx, sql`order by id`);
  for (const endpoint of endpoints) {
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
  const hash = createHash('sha256').update(JSON.stringify([publicId, ...parts]));
  return `msg_${hash.digest('hex').slice(0, 32)}`;
}
