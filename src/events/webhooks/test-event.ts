import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { SyncError } from '../../lib/sync-error.ts';
import { formatInstant, sleepUnlessStopped, type Clock } from '../../lib/time/clock.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { assignments, insertInto, readNumber, selectOne } from '../../db/rows/rows.ts';
import { hasLiveRole } from '../../store/runs/worker-store.ts';
import { WEBHOOK_DELIVERIES } from '../../store/tables/webhook-tables.ts';
import { retryNow, type Delivery } from './delivery-queue.ts';
import { changeEndpoint, readSecrets } from './endpoint-store.ts';
import { type WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { TEST_TYPE } from '../../store/notifications/notification-types.ts';
import { webhookIdOf } from '../../store/notifications/notifications.ts';
import { attemptColumns } from './endpoint-pass.ts';
import { requireEndpoint } from './endpoints.ts';
import { isAccepted } from './judge-attempt.ts';
import { ATTEMPT_MS, createSender, type SendingRules } from './sender.ts';

interface TestParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How a test of an endpoint ended; the schema of its operation describes each member. */
export type EndpointTest = Awaited<ReturnType<typeof testEndpoint>>;

/** How long the background service may take to begin with a delivery. */
const PICKUP_MS = 5_000;
const POLL_MS = 200;

/**
 * Sends an endpoint one event of type `webhook.test`, once. It is a normal delivery, because it must use the network and the settings
 * of the background service; this process sends it if no service sends the endpoint's events.
 * @throws {SyncError} `webhooks.absent`.
 */
export async function testEndpoint(parts: TestParts, rules: SendingRules, name: string) {
  const { session, clock } = parts;
  const endpoint = await requireEndpoint(session, name);
  const now = clock.now();
  const byService = endpoint.state === 'active' && (await hasLiveRole(session, 'webhooks'));
  const id = await session.atomically((tx) => insertTest(tx, endpoint, byService ? 'ready' : 'failed', now));
  if (!byService) await sendTest(parts, rules, endpoint, id);
  const { webhookId, state, attemptedAt, status, error, responseStart, durationMs } = await pollTest(
    parts,
    id,
  );
  const delivered = state === 'delivered';
  // It accepts again: nothing waits for a later attempt, or for the end of the pause that it asked for.
  if (delivered)
    await session.atomically(async (tx) => {
      await changeEndpoint(tx, { id: endpoint.id }, { notBefore: null }, clock.now());
      await retryNow(tx, endpoint.id, clock.now());
    });
  return {
    name,
    state: endpoint.state,
    webhookId,
    delivered,
    status,
    error: attemptedAt === null ? 'not_sent_yet' : error,
    responseStart,
    durationMs: durationMs ?? 0,
    byService,
  };
}

/** Inserts the delivery. One that no service is to send counts as failed until its outcome is known. */
async function insertTest(
  tx: Transaction,
  webhookEndpoint: WebhookEndpoint,
  state: 'ready' | 'failed',
  now: Date,
): Promise<number> {
  const at = formatInstant(now);
  const row = insertInto(WEBHOOK_DELIVERIES, {
    endpointId: webhookEndpoint.id,
    webhookId: webhookIdOf(webhookEndpoint.publicId, [TEST_TYPE, randomUUID()]),
    type: TEST_TYPE,
    body: JSON.stringify({
      type: TEST_TYPE,
      timestamp: now.toISOString(),
      data: { endpoint: webhookEndpoint.name },
    }),
    state,
    nextAttemptAt: state === 'ready' ? at : null,
    createdAt: at,
  });
  return (await readNumber(tx, sql`${row} returning id`)) ?? 0;
}

async function sendTest(parts: TestParts, rules: SendingRules, endpoint: WebhookEndpoint, id: number) {
  const { session, clock, signal } = parts;
  const test = await readTest(session, id);
  const secrets = await readSecrets(session, endpoint.id, clock.now());
  const writer = endpoint.format === 'json' ? undefined : await rules.messages?.writer();
  const content = (await writer?.renderNotifications(session, [[test]], endpoint, rules)) ?? {
    contentType: 'application/json',
    body: test.body ?? '{}',
  };
  await using sender = createSender(clock, rules);
  const attempt = await sender.send({ ...content, endpoint, webhookId: test.webhookId, secrets }, signal);
  const state = isAccepted(attempt.status) ? ('delivered' as const) : ('failed' as const);
  const set = assignments(WEBHOOK_DELIVERIES, { state, attempts: 1, ...attemptColumns(attempt) });
  await session.atomically((tx) => tx.query(sql`update webhook_deliveries set ${set} where id = ${id}`));
}

/** Reads the delivery until it has been sent, or the time for that is over. */
async function pollTest({ session, clock, signal }: TestParts, id: number): Promise<Delivery> {
  const endMs = clock.monotonicMs() + PICKUP_MS + ATTEMPT_MS;
  for (;;) {
    const test = await readTest(session, id);
    if (test.attemptedAt !== null || signal.aborted || clock.monotonicMs() >= endMs) return test;
    await sleepUnlessStopped(POLL_MS, { clock, signal });
  }
}

async function readTest(session: Session, id: number): Promise<Delivery> {
  const test = await selectOne(session, WEBHOOK_DELIVERIES, sql`where id = ${id}`);
  if (test !== null) return test;
  throw new SyncError('The endpoint was removed during its test.', {
    code: 'webhooks.absent',
    hint: 'bms-sync webhooks list shows the others.',
  });
}
