import { randomUUID } from 'node:crypto';
import type { MirrorContext } from '../../db/mirror-context.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { insertRows } from '../../db/rows/rows.ts';
import { WEBHOOK_DELIVERIES } from '../../store/tables/webhook-tables.ts';
import { retryNow } from './delivery-queue.ts';
import { changeEndpoint, readSecrets } from './endpoint-store.ts';
import { TEST_TYPE } from '../../store/notifications/notification-types.ts';
import { webhookIdOf } from '../../store/notifications/notifications.ts';
import { attemptColumns } from './endpoint-pass.ts';
import { requireEndpoint } from './endpoints.ts';
import { isAccepted } from './judge-attempt.ts';
import { createSender, type SendingRules } from './sender.ts';

/** How a test of an endpoint ended; the schema of its operation describes each member. */
export type EndpointTest = Awaited<ReturnType<typeof testEndpoint>>;

/**
 * Sends an endpoint one event of type `webhook.test`, once, from this process, and notes it among the deliveries.
 * @throws {SyncError} `webhooks.absent`.
 */
export async function testEndpoint(
  { session, clock, signal }: Omit<MirrorContext, 'logger'> & { readonly signal: AbortSignal },
  rules: SendingRules,
  name: string,
) {
  const endpoint = await requireEndpoint(session, name);
  const { id: endpointId, state, format, publicId } = endpoint;
  const now = clock.now();
  const webhookId = webhookIdOf(publicId, [TEST_TYPE, randomUUID()]);
  const timestamp = now.toISOString();
  const body = JSON.stringify({ type: TEST_TYPE, timestamp, data: { endpoint: name } });
  const secrets = await readSecrets(session, endpointId, now);
  const writer = format === 'json' ? undefined : await rules.messages?.writer();
  const json = { contentType: 'application/json', body };
  const content = (await writer?.renderNotifications(session, [[{ body }]], endpoint, rules)) ?? json;
  await using sender = createSender(clock, rules);
  const attempt = await sender.send({ ...content, endpoint, webhookId, secrets }, signal);
  const delivered = isAccepted(attempt.status);
  await session.atomically(async (tx) => {
    await requireEndpoint(tx, name); // It may have been removed meanwhile.
    const sent = { endpointId, webhookId, type: TEST_TYPE, body, createdAt: formatInstant(now), attempts: 1 };
    const end = { state: delivered ? 'delivered' : 'failed', ...attemptColumns(attempt) } as const;
    await insertRows(tx, WEBHOOK_DELIVERIES, [{ ...sent, ...end }]);
    if (!delivered) return;
    // It accepts again: nothing waits for a later attempt, or for the end of the pause that it asked for.
    await changeEndpoint(tx, { id: endpointId }, { notBefore: null }, clock.now());
    await retryNow(tx, endpointId, clock.now());
  });
  const { status, error, responseStart, durationMs } = attempt;
  return { name, state, webhookId, delivered, status, error, responseStart, durationMs };
}
