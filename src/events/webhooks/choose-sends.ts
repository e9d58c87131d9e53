import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Transaction } from '../../db/session/session.ts';
import { hasRow } from '../../db/rows/rows.ts';
import * as queue from './delivery-queue.ts';
import { readSecrets } from './endpoint-store.ts';
import { followsEntries, type WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { readChangesBySeq } from '../read-changes.ts';
import { changeBody, notificationBody } from './payload.ts';
import type { ChoiceFacts, ChosenSends, EndpointSend } from './messages.ts';

/** How many deliveries of one endpoint are sent at once. */
const MAX_SENDS_AT_ONCE = 16;
/** How many notifications share a letter; the next letter is written when it is sent. */
const NOTIFICATIONS_PER_EMAIL = 50;

/** Chooses the sends of an endpoint. `hasMore`: some were dropped, others may be ready. */
export async function chooseSends(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  facts: ChoiceFacts,
): Promise<ChosenSends> {
  const due = await readDueDeliveries(tx, endpoint, facts);
  if (due.length === 0) return { sends: [], hasMore: false };
  if (endpoint.format === 'json') return chooseEvents(tx, endpoint, due, facts);
  const writer = await facts.reader.messages?.writer();
  return writer?.chooseMessages(tx, endpoint, due, facts) ?? { sends: [], hasMore: false };
}

/** Events and notifications for a program: each by itself, as stored. */
async function chooseEvents(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  due: readonly queue.Delivery[],
  facts: ChoiceFacts,
) {
  const secrets = await readSecrets(tx, endpoint.id, facts.now);
  const seqs = due.flatMap((delivery) => delivery.seq ?? []);
  const changes = new Map((await readChangesBySeq(tx, seqs)).map((change) => [change.seq, change]));
  const withKey = followsEntries(endpoint);
  const sends: EndpointSend[] = [];
  const dropped: queue.DeliveryOutcome[] = [];
  for (const delivery of due) {
    const { webhookId, seq } = delivery;
    const change = changes.get(seq ?? 0);
    const stored =
      withKey && delivery.body !== null ? await notificationBody(tx, delivery.body) : delivery.body;
    const body = stored ?? (change && changeBody(change, withKey));
    // Without a body, the event was erased meanwhile.
    if (body === undefined) dropped.push(dropOf(delivery));
    else {
      const contentType = 'application/json';
      sends.push({ contentType, body, endpoint, webhookId, secrets, deliveries: [delivery] });
    }
  }
  await queue.writeOutcomes(tx, dropped, facts.now);
  return { sends, hasMore: dropped.length > 0 };
}

export const dropOf = (delivery: queue.Delivery): queue.DeliveryOutcome => ({
  delivery,
  patch: { state: 'dropped', nextAttemptAt: null },
});

/** Returns nothing before a replay, while an e-mail is being sent, or during a pause, unless a letter is urgent. */
async function readDueDeliveries(tx: Transaction, endpoint: WebhookEndpoint, facts: ChoiceFacts) {
  const { inFlight, now } = facts;
  const { id, replayAfter, notBefore } = endpoint;
  const isPausing =
    notBefore !== null && notBefore > formatInstant(now) && notBefore <= queue.latestPause(now);
  const isEmail = endpoint.format === 'email';
  if (replayAfter !== null || (isEmail && inFlight.length > 0)) return [];
  const isUrgent = isPausing && isEmail && (await hasRow(tx, queue.urgentDeliveries(sql`${id}`, now)));
  if (isPausing && !isUrgent) return [];
  const limit = isEmail ? NOTIFICATIONS_PER_EMAIL : MAX_SENDS_AT_ONCE - inFlight.length;
  return limit <= 0 ? [] : queue.readyDeliveries(tx, id, { except: inFlight, now, limit });
}
