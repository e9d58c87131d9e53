import { sql } from 'drizzle-orm';
import { readNumber } from '../../db/rows/rows.ts';
import { firstSeqSince } from '../../store/records/change-store.ts';
import type { Session } from '../../db/session/session.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { firstUndelivered, retryNow } from './delivery-queue.ts';
import { BY_A_PERSON, changeEndpoint, isWantedBy } from './endpoint-store.ts';
import { requireEndpoint } from './endpoints.ts';

/** The columns of an endpoint that is tried again: it counts as failing until it has accepted something. */
const ACTIVE = { state: 'active', disabledReason: null, notBefore: null, failingSince: null } as const;

const DISABLED = { state: 'disabled', disabledReason: BY_A_PERSON } as const;

/**
 * Stops an endpoint until a person enables it, or resumes its deliveries: the waiting ones, which stay, are sent then.
 * @throws {SyncError} `webhooks.absent`.
 */
export async function switchEndpoint(
  session: Session,
  name: string,
  state: WebhookEndpoint['state'],
  now: Date,
) {
  await session.atomically(async (tx) => {
    const { id } = await requireEndpoint(tx, name);
    await changeEndpoint(tx, { id }, state === 'active' ? ACTIVE : DISABLED, now);
    if (state === 'active') await retryNow(tx, id, now);
  });
  return { name, state };
}

/**
 * Sends an endpoint all events after a `seq` again, under the same webhook ids; a disabled one becomes active. `after: null` =
 * from the first undelivered event since its last success.
 * @throws {SyncError} `webhooks.absent`.
 */
export async function replayEvents(session: Session, name: string, after: number | null, now: Date) {
  return session.atomically(async (tx) => {
    const endpoint = await requireEndpoint(tx, name);
    const { id, cursor, deliveredAt, createdAt } = endpoint;
    const lastDeliveredSeq = async (): Promise<number> => {
      const undelivered = (await firstUndelivered(tx, id, deliveredAt)) ?? cursor + 1;
      const since = await firstSeqSince(tx, deliveredAt ?? createdAt); // Rows of old deliveries may have been removed.
      return Math.max(0, Math.min(cursor, undelivered - 1, since - 1));
    };
    const replayAfter = after ?? (await lastDeliveredSeq());
    await changeEndpoint(tx, { id }, { ...ACTIVE, replayAfter }, now);
    const wanted = sql`select count(*) from changes where seq > ${replayAfter} and ${isWantedBy(endpoint)}`;
    return { name, after: replayAfter, events: (await readNumber(tx, wanted)) ?? 0 };
  });
}
