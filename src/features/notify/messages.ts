import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { readChangesBySeq } from '../../events/read-changes.ts';
import { dropOf } from '../../events/webhooks/choose-sends.ts';
import * as queue from '../../events/webhooks/delivery-queue.ts';
import { readSecrets } from '../../events/webhooks/endpoint-store.ts';
import type {
  ChoiceFacts,
  ChosenSends,
  EndpointSend,
  FormattedBody,
  ReaderRules,
} from '../../events/webhooks/messages.ts';
import { readNeeds } from '../../needs/read-needs.ts';
import { readRecordNames } from '../../needs/record-names.ts';
import { readFreshness } from '../../store/kinds/status-store.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { webhookIdOf } from '../../store/notifications/notifications.ts';
import { entriesWhere } from '../../store/outbox/outbox-store.ts';
import { groupByCause, isSettled, updateHold, type DueNotification, type Situation } from './causes.ts';
import { formatNotifications } from './formats.ts';
import type { NamedNotification } from './notification-text.ts';

/** Messages for people: one for each cause, by e-mail all in one letter. Leaves out notifications whose cause is gone. */
export async function chooseMessages(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  due: readonly queue.Delivery[],
  facts: ChoiceFacts,
): Promise<ChosenSends> {
  const notifications = due.map((delivery): DueNotification => {
    const { data } = JSON.parse(delivery.body ?? '{}') as { readonly data?: DueNotification['facts'] };
    return { delivery, facts: data ?? {} };
  });
  const situation = await readSituation(tx, notifications);
  const bySettled = Map.groupBy(notifications, (notification) => isSettled(notification, situation));
  const dropped = (bySettled.get(true) ?? []).map((notification) => dropOf(notification.delivery));
  await queue.writeOutcomes(tx, dropped, facts.now);
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

/** Notifications, by cause, as a person reads them: in their own language, where they have one, and with the names of records. */
export async function renderNotifications(
  db: Queryable,
  causes: readonly (readonly Pick<queue.Delivery, 'body'>[])[],
  endpoint: WebhookEndpoint,
  rules: ReaderRules,
): Promise<FormattedBody> {
  const { format } = endpoint;
  if (format === 'json') throw new Error('A program gets notifications as they are stored.');
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
