import { randomUUID } from 'node:crypto';
import { instantText } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { firstSeqSince } from '../../mirror/records/change-store.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { append } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../../mirror/tables/webhook-tables.ts';
import { firstUntaken, retryNow } from '../../mirror/webhooks/delivery-queue.ts';
import { BY_A_PERSON, changeEndpoint, readSecrets } from '../../mirror/webhooks/endpoint-store.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
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
    await changeEndpoint(tx, id, { patch: HEALTHY, now });
    await retryNow(tx, id, now);
  });
  return { name, state: 'active' };
}

/** Sends an endpoint nothing more until a person enables it; what waits for it stays. @throws {SyncError} `webhooks.absent`. */
export async function disableEndpoint(session: Session, { name, now }: NamedEndpoint) {
  await session.atomically(async (tx) => {
    const { id } = await requireEndpoint(tx, name);
    await changeEndpoint(tx, id, { patch: { state: 'disabled', disabledReason: BY_A_PERSON }, now });
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
    const endpoint = await requireEndpoint(tx, name);
    const replayAfter = after ?? (await lastTaken(tx, endpoint));
    await changeEndpoint(tx, endpoint.id, { patch: { ...HEALTHY, replayAfter }, now });
    return { name, after: replayAfter };
  });
}

/** The `seq` after which events may be missing at the receiver. Rows of old deliveries may have been removed: then the time tells. */
async function lastTaken(db: Queryable, endpoint: WebhookEndpoint): Promise<number> {
  const { id, cursor, deliveredAt, createdAt } = endpoint;
  const untaken = (await firstUntaken(db, id, deliveredAt)) ?? cursor + 1;
  const since = await firstSeqSince(db, deliveredAt ?? createdAt);
  return Math.max(0, Math.min(cursor, untaken - 1, since - 1));
}

/** How a test of an endpoint ended; the schema of its operation says what each member means. */
export type EndpointTest = Awaited<ReturnType<typeof testEndpoint>>;

/** Sends an endpoint one event of type `webhook.test`, once; the delivery log has it. @throws {SyncError} `webhooks.absent`. */
export async function testEndpoint(
  {
    session,
    clock,
    signal,
  }: { readonly session: Session; readonly clock: Clock; readonly signal: AbortSignal },
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
