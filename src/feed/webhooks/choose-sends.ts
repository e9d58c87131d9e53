import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import * as queue from '../../store/webhooks/delivery-queue.ts';
import { readSecrets, type WebhookEndpoint } from '../../store/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../store/webhooks/news.ts';
import { readChangesOf } from '../read-changes.ts';
import { nameNews } from './named-news.ts';
import type { NamedNews, ReaderRules } from './news-text.ts';
import { changeBody, formatNews, type FormattedBody } from './payload.ts';
import type { SendableDelivery } from './sender.ts';

/** What is to be sent now: an event, a piece of news, or a letter with several. */
export type EndpointSend = SendableDelivery & { readonly deliveries: readonly queue.Delivery[] };

interface Choice {
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
const SENT_AT_ONCE = 16;
/** How many pieces of news share a letter; another one is written when it has gone. */
const TOLD_AT_ONCE = 50;

/** Chooses what an endpoint is sent now. */
export async function chooseSends(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  facts: ChoiceFacts,
): Promise<Choice> {
  const due = await dueNow(tx, endpoint, facts);
  if (due.length === 0) return { sends: [], hasMore: false };
  const secrets = await readSecrets(tx, endpoint.id, facts.now);
  const { reader: rules } = facts;
  if (endpoint.format === 'email') {
    const letter = await writeLetter(tx, endpoint, due, rules);
    return { sends: [{ ...letter, endpoint, secrets }], hasMore: false };
  }
  const seqs = due.flatMap((delivery) => delivery.seq ?? []);
  const changes = new Map((await readChangesOf(tx, seqs)).map((change) => [change.seq, change]));
  const sends: EndpointSend[] = [];
  const dropped: queue.DeliveryOutcome[] = [];
  for (const delivery of due) {
    const { webhookId, seq, body } = delivery;
    const change = changes.get(seq ?? 0);
    const event = change && { contentType: 'application/json', body: changeBody(change) };
    const content = body === null ? event : await writeNews(tx, [body], endpoint, rules);
    // Without content, the event was erased meanwhile.
    if (content === undefined) dropped.push({ delivery, patch: { state: 'dropped', nextAttemptAt: null } });
    else sends.push({ ...content, endpoint, webhookId, secrets, deliveries: [delivery] });
  }
  await writeDeliveryOutcomes(tx, dropped, facts.now);
  return { sends, hasMore: dropped.length > 0 };
}

/** None during a pause, before a replay, and while a letter is on its way: what is due then shares the next one. */
async function dueNow(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  facts: ChoiceFacts,
): Promise<queue.Delivery[]> {
  const { inFlight, now } = facts;
  const { id, replayAfter, notBefore } = endpoint;
  const isPausing = notBefore !== null && notBefore > instantText(now) && notBefore <= queue.latestPause(now);
  if (replayAfter !== null || isPausing) return [];
  const isLetter = endpoint.format === 'email';
  if (isLetter && inFlight.length > 0) return [];
  const limit = isLetter ? TOLD_AT_ONCE : SENT_AT_ONCE - inFlight.length;
  return limit <= 0 ? [] : queue.readyDeliveries(tx, id, { except: inFlight, now, limit });
}

/** News as a receiver reads it; a person in their own language, where they have one, and with the names of records. */
export async function writeNews(
  db: Queryable,
  bodies: readonly string[],
  endpoint: WebhookEndpoint,
  rules: ReaderRules,
): Promise<FormattedBody> {
  const news: NamedNews[] = [];
  for (const body of bodies)
    news.push(endpoint.format === 'json' ? { body, names: [], changes: [] } : await nameNews(db, body));
  return formatNews(news, endpoint.format, { ...rules, language: endpoint.language ?? rules.language });
}

/** All that is due as one letter, so that nobody gets a hundred; the digest is one of its own. */
async function writeLetter(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  due: readonly queue.Delivery[],
  rules: ReaderRules,
) {
  const news = due.filter((delivery) => delivery.type !== 'digest.daily');
  const deliveries = news.length > 0 ? news : due.slice(0, 1);
  const bodies = deliveries.map((delivery) => delivery.body ?? '{}');
  const ids = deliveries.map((delivery) => delivery.webhookId);
  // A letter with more in it is another one for a mail program, which may show each id once.
  const webhookId = webhookIdOf(endpoint.publicId, ids);
  const letter = await writeNews(tx, bodies, endpoint, rules);
  return { ...letter, webhookId, deliveries };
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
  await queue.wakeNext(tx, first.delivery.endpointId, recordIds, now);
}
