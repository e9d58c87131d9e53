import { randomUUID } from 'node:crypto';
import { instantText } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { firstSeqSince } from '../../mirror/records/change-store.ts';
import type { Session } from '../../db/session/session.ts';
import { append } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../../mirror/tables/webhook-tables.ts';
import { firstUntaken, retryNow } from '../../mirror/webhooks/delivery-queue.ts';
import { BY_A_PERSON, changeEndpoint, readSecrets } from '../../mirror/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../mirror/webhooks/news.ts';
import { attemptColumns } from './endpoint-pass.ts';
import { requireEndpoint } from './endpoints.ts';
import { isTaken } from './judge-attempt.ts';
import { formatNews, TEST_TYPE } from './payload.ts';
import { createSender } from './sender.ts';

/** The columns of an active endpoint without failures. */
const HEALTHY = {
  state: 'active',
  disabledReason: null,
  notBefore: null,
  failures: 0,
  failingSince: null,
  failingToldAt: null,
} as const;

interface NamedEndpoint {
  readonly name: string;
  readonly now: Date;
}

/** Lets the deliveries of an endpoint go on; those that wait for a later attempt are sent now. @throws {SyncError} `webhooks.absent`. */
export async function enableEndpoint(session: Session, { name, now }: NamedEndpoint) {
  await session.atomically(async (tx) => {
    const { id } = await requireEndpoint(tx, name);
    await changeEndpoint(tx, { id }, HEALTHY, now);
    await retryNow(tx, id, now);
  });
  return { name, state: 'active' };
}

/** Sends an endpoint nothing more until a person enables it; what waits for it stays. @throws {SyncError} `webhooks.absent`. */
export async function disableEndpoint(session: Session, { name, now }: NamedEndpoint) {
  await session.atomically(async (tx) => {
    const { id } = await requireEndpoint(tx, name);
    await changeEndpoint(tx, { id }, { state: 'disabled', disabledReason: BY_A_PERSON }, now);
  });
  return { name, state: 'disabled' };
}

/**
 * Sends an endpoint all events after a `seq` again, under the same webhook ids; a disabled one becomes active. `after: null` =
 * from the first event that it has not taken since its last success.
 *
 * @throws {SyncError} `webhooks.absent`.
 */
export async function replayEvents(
  session: Session,
  { name, after, now }: NamedEndpoint & { readonly after: number | null },
) {
  return session.atomically(async (tx) => {
    const { id, cursor, deliveredAt, createdAt } = await requireEndpoint(tx, name);
    const lastTaken = async (): Promise<number> => {
      const untaken = (await firstUntaken(tx, id, deliveredAt)) ?? cursor + 1;
      const since = await firstSeqSince(tx, deliveredAt ?? createdAt); // Rows of old deliveries may have been removed.
      return Math.max(0, Math.min(cursor, untaken - 1, since - 1));
    };
    const replayAfter = after ?? (await lastTaken());
    await changeEndpoint(tx, { id }, { ...HEALTHY, replayAfter }, now);
    return { name, after: replayAfter };
  });
}

/** How a test of an endpoint ended; the schema of its operation says what each member means. */
export type EndpointTest = Awaited<ReturnType<typeof testEndpoint>>;

/** Sends an endpoint one event of type `webhook.test`, once; the delivery log has it. @throws {SyncError} `webhooks.absent`. */
export async function testEndpoint(
  { session, clock, signal }: { session: Session; clock: Clock; signal: AbortSignal },
  allowHosts: readonly string[],
  name: string,
) {
  const endpoint = await requireEndpoint(session, name);
  const now = clock.now();
  const webhookId = webhookIdOf(endpoint.publicId, [TEST_TYPE, randomUUID()]);
  const body = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data: { endpoint: name } });
  const secrets = await readSecrets(session, endpoint.id, now);
  await using sender = createSender(clock, allowHosts);
  const sendable = { ...formatNews(body, endpoint.format), endpoint, webhookId, secrets };
  const attempt = await sender.send(sendable, signal);
  const delivered = isTaken(attempt);
  const row = {
    endpointId: endpoint.id,
    webhookId,
    type: TEST_TYPE,
    body,
    state: delivered ? ('delivered' as const) : ('failed' as const),
    attempts: 1,
    createdAt: instantText(now),
    ...attemptColumns(attempt),
  };
  await session.atomically((tx) => append(tx, WEBHOOK_DELIVERIES, [row]));
  const { status, error, responseStart, durationMs } = attempt;
  return { name, webhookId, delivered, status, error, responseStart, durationMs };
}
