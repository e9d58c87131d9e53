import { Webhook } from 'standardwebhooks';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { gatherBytes } from '../../lib/net/gathered-bytes.ts';
import { createGuardedConnector } from '../../lib/net/guarded-connector.ts';
import { limitInterimAnswers } from '../../lib/net/interim-answers.ts';
import { targetFault } from '../../lib/net/target-url.ts';
import { errorCode } from '../../lib/sync-error.ts';
import { maskSecrets } from '../../lib/text/mask-secrets.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { retryAfterMs } from '../../lib/time/retry-after.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import type { SentAttempt } from './judge-attempt.ts';
import type { FormattedBody } from './payload.ts';

/** How many deliveries of one endpoint are sent at once. */
export const SENT_AT_ONCE = 16;

/** The longest that one attempt may take, its answer included. */
const ATTEMPT_MS = 15_000;
const CONNECT_MS = 10_000;

/** How much of an answer is kept. */
const RESPONSE_BYTES = 1_024;

/** One event for one endpoint, with the secrets to sign it by. */
export interface SendableDelivery extends FormattedBody {
  readonly endpoint: Pick<WebhookEndpoint, 'id' | 'url'>;
  readonly webhookId: string;
  readonly secrets: readonly string[];
}

/** Sends deliveries. Each endpoint has connections of its own, so that a slow one occupies none of another's. */
export interface Sender extends AsyncDisposable {
  /** Never throws: every fault is an outcome. */
  send(delivery: SendableDelivery, signal: AbortSignal): Promise<SentAttempt>;
}

interface SenderParts {
  readonly clock: Clock;
  /** The setting `webhooks.allowHosts`. */
  readonly allowHosts: readonly string[];
  readonly attemptMs?: number;
}

export function createSender({ clock, allowHosts, attemptMs = ATTEMPT_MS }: SenderParts): Sender {
  const pools = new Map<string, Pool>();
  const connect = createGuardedConnector({ allowHosts, timeoutMs: CONNECT_MS });
  const poolOf = ({ id, url }: SendableDelivery['endpoint']): Pool => {
    const { origin } = new URL(url);
    const key = `${id} ${origin}`;
    const pool =
      pools.get(key) ??
      new Pool(origin, { connect, allowH2: false, connections: SENT_AT_ONCE, pipelining: 1 });
    pools.set(key, pool);
    return pool;
  };
  const keysOf = createKeys();
  return {
    send: async (delivery, signal) => {
      const { endpoint } = delivery;
      const [at, startMs] = [clock.now(), clock.monotonicMs()];
      const none = { at, status: null, responseStart: null, retryAfterMs: null };
      const ended = (): Pick<SentAttempt, 'durationMs'> => ({
        durationMs: Math.round(clock.monotonicMs() - startMs),
      });
      const refusal = refusalOf(delivery, allowHosts);
      if (refusal !== null) return { ...none, error: refusal, durationMs: 0 };
      const limit = createDeadline(attemptMs, [signal]);
      try {
        const { sign, mask } = keysOf(delivery);
        const headers = sign(delivery, at);
        const answer = await post(poolOf(endpoint), { delivery, headers, signal: limit.signal });
        const responseStart = mask(answer.start);
        const asked = retryAfterMs(answer.retryAfter, clock.now());
        return { at, status: answer.status, error: null, responseStart, retryAfterMs: asked, ...ended() };
      } catch (error) {
        return { ...none, error: limit.isOver() ? 'timeout' : faultCode(error), ...ended() };
      } finally {
        limit.release();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** Why nothing may be sent; null if it may. The settings may have changed since the endpoint was added. */
function refusalOf(
  { endpoint, secrets }: SendableDelivery,
  allowHosts: readonly string[],
): 'address_refused' | 'no_secret' | null {
  if (targetFault(endpoint.url, allowHosts) !== null) return 'address_refused';
  return secrets.length === 0 ? 'no_secret' : null;
}

interface Posting {
  readonly delivery: SendableDelivery;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly start: string;
  readonly retryAfter: string | readonly string[] | undefined;
}

/** Redirects are not followed: undici does so only where it is told to. */
async function post(pool: Pool, { delivery, headers: signed, signal }: Posting): Promise<Answer> {
  const { pathname, search } = new URL(delivery.endpoint.url);
  const { statusCode, headers, body } = await pool.request({
    ...{ method: 'POST', path: pathname + search, body: delivery.body, signal },
    headers: {
      'content-type': delivery.contentType,
      'accept-encoding': 'identity',
      'user-agent': 'bms-sync',
      ...signed,
    },
    ...{ headersTimeout: 0, bodyTimeout: 0 }, // The signal covers these.
    onInfo: limitInterimAnswers(),
  });
  return { status: statusCode, start: await readStart(body), retryAfter: headers['retry-after'] };
}

/** The signers and the mask of an endpoint, made from its secrets. */
interface Keys {
  /** The headers of Standard Webhooks. One signature for each secret: during an overlap a receiver may know either. */
  readonly sign: (delivery: SendableDelivery, at: Date) => Readonly<Record<string, string>>;
  readonly mask: (text: string) => string;
}

/** Keeps the keys of each endpoint: making them for each delivery takes longer than signing it. */
function createKeys(): (delivery: SendableDelivery) => Keys {
  const known = new Map<number, { readonly secrets: string; readonly keys: Keys }>();
  return ({ endpoint: { id }, secrets: all }) => {
    const secrets = all.join(' ');
    const before = known.get(id);
    if (before?.secrets === secrets) return before.keys;
    const signers = all.map((secret) => new Webhook(secret));
    const keys: Keys = {
      sign: ({ webhookId, body }, at) => ({
        'webhook-id': webhookId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signers.map((signer) => signer.sign(webhookId, at, body)).join(' '),
      }),
      mask: maskSecrets(all),
    };
    known.set(id, { secrets, keys });
    return keys;
  };
}

/** Reads the beginning of an answer as text. A short rest is read too, so that the connection can be used again. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const start = gatherBytes();
  let length = 0;
  let pieces = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (length < RESPONSE_BYTES) start.add(chunk);
    length += chunk.length;
    pieces += 1;
    if (length > 64 * RESPONSE_BYTES || pieces > RESPONSE_BYTES) break; // Destroys the connection.
  }
  const text = start.bytes().subarray(0, RESPONSE_BYTES).toString('utf8');
  return text.replaceAll('\0', '\ufffd'); // PostgreSQL keeps no null characters.
}

/** The code of an error, or of the first of several attempts to connect. */
function faultCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== '') return code;
  if (error instanceof AggregateError) return faultCode(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? faultCode(error.cause) : 'unknown';
}
