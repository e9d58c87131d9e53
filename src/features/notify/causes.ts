import type { Need } from '../../needs/read-needs.ts';
import { NOTIFICATION_ORDER } from '../../store/notifications/notification-types.ts';
import type { Delivery } from '../../events/webhooks/delivery-queue.ts';

/** A notification that is due; its facts are those of the types that are judged here. */
export interface DueNotification {
  readonly delivery: Delivery;
  readonly facts: {
    readonly kind?: string;
    readonly entryId?: number;
    readonly verdict?: string;
    readonly reason?: string;
  };
}

/** The facts at the moment when a message is written. */
export interface Situation {
  readonly needs: readonly Need[];
  /** The parked ones of the entries that the notifications name. */
  readonly parked: ReadonlySet<number>;
  /** When the list of each kind was last read to its end. */
  readonly readAt: ReadonlyMap<string, string>;
}

/** Types of needs without a kind: there is at most one of each. */
const OF_ALL_KINDS = ['mirror.damaged', 'outbox.frozen', 'token.refused', 'field.volatile'];

/** Whether the cause of a notification is gone, so that nobody needs to read it. */
export function isSettled({ delivery, facts }: DueNotification, situation: Situation): boolean {
  const { type, createdAt } = delivery;
  const { needs, parked, readAt } = situation;
  const alike = needs.filter((need) => need.type === type);
  if (type === 'entry.parked') return !parked.has(facts.entryId ?? 0);
  if (type === 'kind.held' || type === 'kind.blocked')
    return !alike.some((need) => 'kind' in need.facts && need.facts.kind === facts.kind);
  if (OF_ALL_KINDS.includes(type)) return alike.length === 0;
  if (type !== 'kind.stale') return false;
  // A refused token is the cause of all, and has a notification of its own.
  const isCausedByToken = needs.some((need) => need.type === 'token.refused');
  return isCausedByToken || (readAt.get(facts.kind ?? '') ?? '') > createdAt;
}

/** A hold as it is now, with its cause: both may have changed since it was notified. */
export function updateHold(notification: DueNotification, situation: Situation): DueNotification {
  const { delivery, facts } = notification;
  const need = situation.needs.find((each) => each.type === 'kind.held' && each.facts.kind === facts.kind);
  if (delivery.type !== 'kind.held' || need === undefined) return notification;
  return { facts, delivery: { ...delivery, body: JSON.stringify({ type: need.type, data: need.facts }) } };
}

/** Groups notifications by their cause, the most urgent first: a message explains a cause once. */
export function groupByCause(
  notifications: readonly DueNotification[],
): readonly (readonly DueNotification[])[] {
  const causes = [...Map.groupBy(notifications, causeOf).values()];
  return causes.toSorted(([a], [b]) => urgencyOf(a) - urgencyOf(b));
}

function causeOf(notification: DueNotification): string {
  const { type, webhookId } = notification.delivery;
  // An alert, a test; a hold, which has a cause of its own.
  if (!NOTIFICATION_ORDER.includes(type) || type === 'kind.held') return webhookId;
  return JSON.stringify([type, notification.facts.verdict, notification.facts.reason]);
}

function urgencyOf(notification: DueNotification | undefined): number {
  const place = NOTIFICATION_ORDER.indexOf(notification?.delivery.type ?? '');
  return place < 0 ? NOTIFICATION_ORDER.length : place;
}
