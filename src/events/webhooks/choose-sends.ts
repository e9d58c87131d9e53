import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { hasRow } from '../../db/rows/rows.ts';
import { sqlList } from '../../db/session/sql-text.ts';
import { readFreshness } from '../../store/kinds/status-store.ts';
import { readNeeds } from '../../store/needs/read-needs.ts';
import { readRecordNames } from '../../store/needs/record-names.ts';
import { entriesWhere } from '../../store/outbox/outbox-store.ts';
import * as queue from './delivery-queue.ts';
import { followsEntries, readSecrets, type WebhookEndpoint } from './endpoint-store.ts';
import { webhookIdOf } from '../../store/notifications/notifications.ts';
import { readChangesBySeq } from '../read-changes.ts';
import {
  groupByCause,
  isSettled,
  updateHold,
  type DueNotification,
  type Situation,
} from '../../features/notify/causes.ts';
import type { NamedNotification, ReaderRules } from '../../features/notify/notification-text.ts';
import { changeBody, formatNotifications, notificationBody, type FormattedBody } from './payload.ts';
import type { SendableDelivery } from './sender.ts';

/** A request to send now: an event, a notification, or a letter with several notifications. */
export type EndpointSend = SendableDelivery & { readonly deliveries: readonly queue.Delivery[] };

interface ChoiceFacts {
  /** Ids of the deliveries that are being sent. */
  readonly inFlight: readonly number[];
  readonly reader: ReaderRules;
  readonly now: Date;
}

/** How many deliveries of one endpoint are sent at once. */
const MAX_SENDS_AT_ONCE = 16;
/** How many notifications share a letter; the next letter is written when it is sent. */
const NOTIFICATIONS_PER_EMAIL = 50;

/** Chooses the sends of an endpoint. `hasMore`: some were dropped, others may be ready. */
export async function chooseSends(tx: Transaction, endpoint: WebhookEndpoint, facts: ChoiceFacts) {
  const due = await readDueDeliveries(tx, endpoint, facts);
  if (due.length === 0) return { sends: [], hasMore: false };
  return endpoint.format === 'json'
    ? chooseEvents(tx, endpoint, due, facts)
    : chooseMessages(tx, endpoint, due, facts);
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
  await writeDeliveryOutcomes(tx, dropped, facts.now);
  return { sends, hasMore: dropped.length > 0 };
}

/** Messages for people: one for each cause, by e-mail all in one letter. Leaves out notifications whose cause is gone. */
async function chooseMessages(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  due: readonly queue.Delivery[],
  facts: ChoiceFacts,
) {
  const notifications = due.map((delivery): DueNotification => {
    const { data } = JSON.parse(delivery.body ?? '{}') as { readonly data?: DueNotification['facts'] };
    return { delivery, facts: data ?? {} };
  });
  const situation = await readSituation(tx, notifications);
  const bySettled = Map.groupBy(notifications, (notification) => isSettled(notification, situation));
  const dropped = (bySettled.get(true) ?? []).map((notification) => dropOf(notification.delivery));
  await writeDeliveryOutcomes(tx, dropped, facts.now);
  const current = (bySettled.get(false) ?? []).map((notification) => updateHold(notification, situation));
  const causes = groupByCause(current).map((cause) => cause.map((notification) => notification.delivery));
  const messages = endpoint.format === 'email' ? lettersOf(causes) : causes.map((cause) => [cause]);
  const secrets = await readSecrets(tx, endpoint.id, facts.now);
  const sends: EndpointSend[] = [];
  for (const message of messages) {
    const deliveries = message.flat();
    const content = await renderNotifications(tx, message, endpoint, facts.reader);
    const ids = deliveries.map((delivery) => delivery.webhookId);
    const [webhookId = ''] = ids.length === 1 ? ids : [webhookIdOf(endpoint.publicId, ids)];
    sends.push({ ...content, endpoint, webhookId, secrets, deliveries });
  }
  return { sends, hasMore: dropped.length > 0 };
}

/** One letter with all that is due; the digest is a letter of its own, after it. */
function lettersOf(causes: readonly (readonly queue.Delivery[])[]) {
  const others = causes.filter(([first]) => first?.type !== 'digest.daily');
  return others.length > 0 ? [others] : causes.slice(0, 1).map((digest) => [digest]);
}

const dropOf = (delivery: queue.Delivery): queue.DeliveryOutcome => ({
  delivery,
  patch: { state: 'dropped', nextAttemptAt: null },
});

async function readSituation(tx: Transaction, notifications: readonly DueNotification[]): Promise<Situation> {
  const entries = notifications.flatMap((notification) => notification.facts.entryId ?? []);
  const parked =
    entries.length === 0 ? [] : await entriesWhere(tx, sql`state = 'parked' and id in (${sqlList(entries)})`);
  const read = (await readFreshness(tx)).filter(
    (kind) => kind.state === 'certified' || kind.state === 'complete',
  );
  return {
    needs: await readNeeds(tx, []),
    parked: new Set(parked.map((entry) => entry.id)),
    readAt: new Map(read.map((kind) => [kind.kind, kind.lastSweepAt ?? ''])),
  };
}

/** Returns nothing before a replay, or while an e-mail is being sent; during a pause only tests, unless a letter is urgent. */
async function readDueDeliveries(tx: Transaction, endpoint: WebhookEndpoint, facts: ChoiceFacts) {
  const { inFlight, now } = facts;
  const { id, replayAfter, notBefore } = endpoint;
  const isPausing =
    notBefore !== null && notBefore > formatInstant(now) && notBefore <= queue.latestPause(now);
  const isEmail = endpoint.format === 'email';
  if (replayAfter !== null || (isEmail && inFlight.length > 0)) return [];
  const isHeld = isPausing && !(isEmail && (await hasRow(tx, queue.urgentDeliveries(sql`${id}`, now))));
  const due = isHeld ? queue.isDueTest(now) : queue.isDueDelivery(now);
  const limit = isEmail ? NOTIFICATIONS_PER_EMAIL : MAX_SENDS_AT_ONCE - inFlight.length;
  return limit <= 0 ? [] : queue.readyDeliveries(tx, id, { except: inFlight, due, limit });
}

/** Notifications, by cause, as a person reads them: in their own language, where they have one, and with the names of records. */
export async function renderNotifications(
  db: Queryable,
  causes: readonly (readonly Pick<queue.Delivery, 'body'>[])[],
  endpoint: WebhookEndpoint,
  rules: ReaderRules,
): Promise<FormattedBody> {
  const { format } = endpoint;
  if (format === 'json') {
    const bodies = causes.flat().map((delivery) => delivery.body ?? '{}');
    return { contentType: 'application/json', body: bodies.join() };
  }
  const named: (readonly NamedNotification[])[] = [];
  for (const cause of causes)
    named.push(await Promise.all(cause.map(({ body }) => nameNotification(db, body ?? '{}'))));
  return formatNotifications(named, format, { ...rules, language: endpoint.language ?? rules.language });
}

/** Reads the names of a stored notification's records, and its changes; leaves out forgotten ones. */
async function nameNotification(db: Queryable, body: string): Promise<NamedNotification> {
  const { type, data } = JSON.parse(body) as { type: string; data: { seqs?: readonly number[] } };
  const names = await readRecordNames(db, { type, facts: data });
  return { type, body, names, changes: await readChangesBySeq(db, data.seqs ?? []) };
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
