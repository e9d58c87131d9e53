import { randomUUID } from 'node:crypto';
import { instantText } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Session } from '../../mirror/session/session.ts';
import { append } from '../../mirror/tables/rows.ts';
import { WEBHOOK_DELIVERIES } from '../../mirror/tables/webhook-tables.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../mirror/webhooks/news.ts';
import { readSecrets } from '../../mirror/webhooks/secret-store.ts';
import { requireEndpoint } from './endpoint-decisions.ts';
import { attemptColumns } from './endpoint-step.ts';
import { isTaken } from './judge-attempt.ts';
import { TEST_TYPE, formatNews } from './payload.ts';
import { createSender } from './sender.ts';

/** How a test of an endpoint ended. */
export interface EndpointTest {
  readonly name: string;
  readonly webhookId: string;
  /** The receiver has answered 2xx. */
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly responseStart: string | null;
  readonly durationMs: number;
}

interface TestParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly allowHosts: readonly string[];
  /** Secrets from the settings; null = those of the table. */
  readonly secretsOf: (endpoint: Pick<WebhookEndpoint, 'name' | 'source'>) => readonly string[] | null;
  readonly signal: AbortSignal;
}

/**
 * Sends an endpoint one event of type `webhook.test` at once, and only once; the delivery log has it.
 *
 * @throws {SyncError} `webhooks.absent` if there is no such endpoint.
 */
export async function testEndpoint(parts: TestParts, name: string): Promise<EndpointTest> {
  const { session, clock, allowHosts, secretsOf, signal } = parts;
  const endpoint = await requireEndpoint(session, name);
  const now = clock.now();
  const webhookId = webhookIdOf(endpoint.publicId, [TEST_TYPE, randomUUID()]);
  const data = { endpoint: name };
  const body = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data });
  const secrets = secretsOf(endpoint) ?? (await readSecrets(session, endpoint.id, now));
  await using sender = createSender({ clock, allowHosts });
  const send = { ...formatNews(body, endpoint.format), endpoint, webhookId, secrets };
  const attempt = await sender.send(send, signal);
  const state = isTaken(attempt) ? ('delivered' as const) : ('failed' as const);
  const of = { endpointId: endpoint.id, webhookId, type: TEST_TYPE, createdAt: instantText(now) };
  const row = { ...of, body, state, attempts: 1, ...attemptColumns(attempt) };
  await session.atomically((tx) => append(tx, WEBHOOK_DELIVERIES, [row]));
  const { status, error, responseStart, durationMs } = attempt;
  return { name, webhookId, delivered: isTaken(attempt), status, error, responseStart, durationMs };
}
