import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import * as queue from '../../store/webhooks/delivery-queue.ts';
import { readSecrets, type WebhookEndpoint } from '../../store/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../store/webhooks/notifications.ts';
import { readChangesBySeq } from '../read-changes.ts';
import { nameNotification } from './named-notification.ts';
import type { NamedNotification, ReaderRules } from './notification-text.ts';
import { changeBody, formatNotifications, type FormattedBody } from './payload.ts';
import type { SendableDelivery } from './sender.ts';

/** What is to be sent now: an event, a piece of news, or a letter with several. */
export type EndpointSend = SendableDelivery & { readonly deliveries: readonly queue.Delivery[] };

interface ChosenSends {
  readonly sends: readonly EndpointSend[];
  /** Some were dropped: others may be ready. */
  readonly hasMore: boolean;
}

interface ChoiceFacts {
  /** Ids of the deliveries that are being sent. */
  readonly inFlight: readonly number[];
  readonly reader: ReaderRules;
  readonly now: Date;
}

/** How many deliveries of one endpoint are sent at once. */
const MAX_SENDS_AT_ONCE = 16;
/** How many pieces of news share a letter; another one is written when it has gone. */
const NOTIFICATIONS_PER_EMAIL = 50;

/** Chooses what an endpoint is sent now. */
export async function chooseSends(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  facts: ChoiceFacts,
): Promise<ChosenSends> {
  const due = await readDueDeliveries(tx, endpoint, facts);
  if (due.length === 0) return { sends: [], hasMore: false };
  const secrets = await readSecrets(tx, endpoint.id, facts.now);
  const { reader: rules } = facts;
  if (endpoint.format === 'email') {
    const email = await writeEmail(tx, endpoint, due, rules);
    return { sends: [{ ...email, endpoint, secrets }], hasMore: false };
  }
  const seqs = due.flatMap((delivery) => delivery.seq ?? []);
  const changes = new Map((await readChangesBySeq(tx, seqs)).map((change) => [change.seq, change]));
  const sends: EndpointSend[] = [];
  const dropped: queue.DeliveryOutcome[] = [];
  for (const delivery of due) {
    const { webhookId, seq, body } = delivery;
    const change = changes.get(seq ?? 0);
    const event = change && { contentType: 'application/json', body: changeBody(change) };
    const content = body === null ? event : await renderNotifications(tx, [body], endpoint, rules);
    // Without content, the event was erased meanwhile.
    if (content === undefined) dropped.push({ delivery, patch: { state: 'dropped', nextAttemptAt: null } });
    else sends.push({ ...content, endpoint, webhookId, secrets, deliveries: [delivery] });
  }
  await writeDeliveryOutcomes(tx, dropped, facts.now);
  return { sends, hasMore: dropped.length > 0 };
}

/** Returns nothing during a pause, before a replay, or while an e-mail is being sent; the next e-mail includes it. */
async function readDueDeliveries(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  facts: ChoiceFacts,
): Promise<queue.Delivery[]> {
  const { inFlight, now } = facts;
  const { id, replayAfter, notBefore } = endpoint;
  const isPausing =
    notBefore !== null && notBefore > formatInstant(now) && notBefore <= queue.latestPause(now);
  if (replayAfter !== null || isPausing) return [];
  const isEmail = endpoint.format === 'email';
  if (isEmail && inFlight.length > 0) return [];
  const limit = isEmail ? NOTIFICATIONS_PER_EMAIL : MAX_SENDS_AT_ONCE - inFlight.length;
  return limit <= 0 ? [] : queue.readyDeliveries(tx, id, { except: inFlight, now, limit });
}

/** News as a receiver reads it; a person in their own language, where they have one, and with the names of records. */
export async function renderNotifications(
  db: Queryable,
  bodies: readonly string[],
  endpoint: WebhookEndpoint,
  rules: ReaderRules,
): Promise<FormattedBody> {
  const notifications: NamedNotification[] = [];
  for (const body of bodies)
    notifications.push(
      endpoint.format === 'json' ? { body, names: [], changes: [] } : await nameNotification(db, body),
    );
  return formatNotifications(notifications, endpoint.format, {
    ...rules,
    language: endpoint.language ?? rules.language,
  });
}

/** Sends everything that is due as one e-mail. The digest is always its own e-mail. */
async function writeEmail(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  due: readonly queue.Delivery[],
  rules: ReaderRules,
) {
  const notifications = due.filter((delivery) => delivery.type !== 'digest.daily');
  const deliveries = notifications.length > 0 ? notifications : due.slice(0, 1);
  const bodies = deliveries.map((delivery) => delivery.body ?? '{}');
  const ids = deliveries.map((delivery) => delivery.webhookId);
  // A letter with more in it is another one for a mail program, which may show each id once.
  const webhookId = webhookIdOf(endpoint.publicId, ids);
  const email = await renderNotifications(tx, bodies, endpoint, rules);
  return { ...email, webhookId, deliveries };
}

/** Writes outcomes, and makes the next deliveries of their records ready. */
export async function writeDeliveryOutcomes(
  tx: Transaction,
  outcomes: readonly queue.DeliveryOutcome[],
  now: Date,
): Promise<void> {
  const [first] = outcomes;
  if (first === undefined) return;
  await queue.writeOutcomes(tx, outcomes);
  const recordIds = outcomes.flatMap((outcome) => outcome.delivery.recordId ?? []);
  await queue.makeNextReady(tx, first.delivery.endpointId, recordIds, now);
}
