import { addAbortSignal } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { Agent, type Dispatcher } from 'undici';
import { createGuardedConnector } from '../../lib/net/guarded-connector.ts';
import { createInterimAnswerCounter } from '../../lib/net/interim-answers.ts';
import { targetFault } from '../../lib/net/target-url.ts';
import { errorCode, isOurs } from '../../lib/sync-error.ts';
import { maskSecrets } from '../../lib/text/mask-secrets.ts';
import { replaceUnstorable, truncate } from '../../lib/text/text.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { retryAfterMs } from '../../lib/time/retry-after.ts';
import { isAccepted, type SentAttempt } from './judge-attempt.ts';
import {
  mailUnsetError,
  type Mailer,
  type MailRules,
  type MessageRules,
  type SendableDelivery,
} from './messages.ts';

/** The longest that one attempt may take, its answer included. */
const ATTEMPT_MS = 15_000;
const CONNECT_MS = 10_000;

/** The longest that the rest of an answer is read: its status has decided already. */
const BODY_MS = 1_000;
/** How much of an answer is kept. */
const RESPONSE_BYTES = 1_024;

/** Sends deliveries. Each endpoint has connections of its own, so that a slow one occupies none of another's. */
export type Sender = ReturnType<typeof createSender>;

/** The settings of deliveries. */
export interface SendingRules extends MessageRules {
  /** The setting `webhooks.allowHosts`. */
  readonly allowHosts: readonly string[];
  readonly mail: MailRules;
}

/** Creates a sender; letters go through the server of the settings. */
export function createSender(clock: Clock, rules: SendingRules, attemptMs = ATTEMPT_MS) {
  let mailer: Promise<Mailer> | null = null;
  const openMailer = async (): Promise<Mailer> => {
    if (rules.messages === null) throw mailUnsetError('No e-mail is sent');
    return (await rules.messages.mailer()).createMailer(rules.mail, attemptMs);
  };
  const agents = new Map<number, Agent>();
  const connect = createGuardedConnector(rules.allowHosts, CONNECT_MS);
  const agentOf = (endpointId: number): Agent => {
    const agent = agents.get(endpointId) ?? new Agent({ connect, allowH2: false, pipelining: 1 });
    agents.set(endpointId, agent);
    return agent;
  };
  return {
    /** Never throws: every fault is an outcome. */
    send: async (delivery: SendableDelivery, signal: AbortSignal): Promise<SentAttempt> => {
      const at = clock.now();
      const startMs = clock.monotonicMs();
      const noAnswer = { at, status: null, responseStart: null, retryAfterMs: null };
      const isEmail = delivery.endpoint.url.startsWith('mailto:');
      // The settings may have changed since the endpoint was added.
      if (!isEmail && targetFault(delivery.endpoint.url, rules.allowHosts) !== null)
        return { ...noAnswer, error: 'address_refused', durationMs: 0 };
      if (delivery.secrets.length === 0) return { ...noAnswer, error: 'no_secret', durationMs: 0 };
      const limit = createDeadline(attemptMs, [signal]);
      const passedMs = (): number => Math.round(clock.monotonicMs() - startMs);
      try {
        const { status, start, pauseMs } = isEmail
          ? await (await (mailer ??= openMailer())).send(delivery, limit.signal)
          : await post(agentOf, delivery, at, limit.signal);
        const responseStart =
          start === ''
            ? ''
            : maskSecrets(delivery.secrets)(replaceUnstorable(truncate(start, RESPONSE_BYTES)));
        const error = status === null ? 'no_status' : null;
        return { at, status, error, responseStart, retryAfterMs: pauseMs, durationMs: passedMs() };
      } catch (error) {
        return {
          ...noAnswer,
          error: limit.isTimedOut() ? 'timeout' : faultCode(error),
          durationMs: passedMs(),
        };
      } finally {
        limit.release();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/**
 * Posts a delivery, with the headers of Standard Webhooks and a signature for each secret: during a rotation a receiver may know
 * either. Redirects are not followed: undici follows them only on request.
 */
async function post(
  agentOf: (endpointId: number) => Agent,
  delivery: SendableDelivery,
  at: Date,
  signal: AbortSignal,
) {
  const { endpoint, webhookId, secrets, contentType, body: sent } = delivery;
  const { origin, pathname, search } = new URL(endpoint.url);
  const { statusCode, headers, body } = await agentOf(endpoint.id).request({
    origin,
    path: pathname + search,
    method: 'POST',
    body: sent,
    headers: {
      'content-type': contentType,
      'accept-encoding': 'identity',
      'user-agent': 'bms-sync',
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(webhookId, at, sent)).join(' '),
    },
    signal,
    headersTimeout: 0, // The signal covers these two.
    bodyTimeout: 0,
    onInfo: createInterimAnswerCounter(),
  });
  const isDone = isAccepted(statusCode);
  const pauseMs = isDone ? null : retryAfterMs(headers['retry-after'], at);
  return { status: statusCode, start: await readStart(body, signal), pauseMs };
}

/**
 * Reads the beginning of an answer as text; whatever ends it, what has come is kept. A short rest is read too, so that the connection can be
 * used again.
 */
async function readStart(body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<string> {
  let start = Buffer.alloc(0);
  let length = 0;
  const limit = createDeadline(BODY_MS, [signal]);
  addAbortSignal(limit.signal, body);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const kept = chunk.subarray(0, RESPONSE_BYTES - start.length);
      if (kept.length > 0) start = Buffer.concat([start, kept]);
      length += chunk.length;
      if (length > 64 * RESPONSE_BYTES) break; // Destroys the connection.
    }
  } catch (error) {
    if (isOurs(error)) throw error;
  } finally {
    limit.release();
  }
  return start.toString('utf8');
}

/** The code of an error, or of the first of several attempts to connect. */
function faultCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== '') return code;
  if (error instanceof AggregateError) return faultCode(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? faultCode(error.cause) : 'unknown';
}
