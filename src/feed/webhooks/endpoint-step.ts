import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { readNumber } from '../../mirror/tables/rows.ts';
import { dropPendingAfter, readyDeliveries, writeOutcome } from '../../mirror/webhooks/delivery-queue.ts';
import type { Delivery } from '../../mirror/webhooks/delivery-store.ts';
import { readOwned, writeOwned } from '../../mirror/webhooks/endpoint-queue.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import { readSecrets } from '../../mirror/webhooks/secret-store.ts';
import { readChanges } from '../read-changes.ts';
import { isTaken, judgeAttempt, judgeHealth } from './judge-attempt.ts';
import type { HealthStep, RetryRules, SentAttempt } from './judge-attempt.ts';
import { changeBody, formatNews } from './payload.ts';
import { planNext } from './plan-deliveries.ts';
import { SENT_AT_ONCE } from './sender.ts';
import type { SendableDelivery } from './sender.ts';

/** A delivery whose attempt has ended. */
export interface EndedAttempt {
  readonly delivery: Delivery;
  readonly attempt: SentAttempt;
  /** From 0 to 1, drawn once: a transaction may run again. */
  readonly random: number;
}

/** What a person is to be told of an endpoint. */
export interface EndpointNews {
  readonly tell: Exclude<HealthStep['tell'], null>;
  readonly endpoint: WebhookEndpoint;
  readonly attempt: SentAttempt;
}

export interface StepFacts {
  /** The endpoint as this process has claimed it. */
  readonly ref: WorkRef;
  readonly ended: readonly EndedAttempt[];
  /** Ids of the deliveries that are still being sent. */
  readonly inFlight: readonly number[];
  /** False once this process is to end. */
  readonly takesMore: boolean;
  readonly retrySeconds: RetryRules['retrySeconds'];
  /** Secrets from the settings; null = those of the table. */
  readonly secretsOf: (endpoint: Pick<WebhookEndpoint, 'name' | 'source'>) => readonly string[] | null;
  readonly now: Date;
}

/** A delivery to be sent now. */
export interface EndpointSend extends SendableDelivery {
  readonly delivery: Delivery;
}

/** What an owner does next: `lost` = the endpoint is no longer its own. */
export interface EndpointStep {
  readonly is: 'going on' | 'released' | 'lost';
  readonly sends: readonly EndpointSend[];
  readonly news: readonly EndpointNews[];
}

/**
 * Takes an endpoint one step further, in one transaction: keeps the outcomes of attempts, plans deliveries of new events,
 * chooses what to send now, and gives the endpoint back where nothing is left to do.
 */
export async function takeStep(tx: Transaction, facts: StepFacts): Promise<EndpointStep> {
  const owned = await readOwned(tx, facts.ref);
  if (owned === null) return { is: 'lost', sends: [], news: [] };
  const { endpoint: judged, news } = await keepOutcomes(tx, owned, facts);
  const planned = await planMore(tx, judged, facts);
  const { sends, isIdle } = await chooseSends(tx, planned.endpoint, facts);
  const isDone = isIdle && facts.inFlight.length === 0 && !planned.hasMore;
  if (isDone) await writeOwned(tx, facts.ref, { patch: { owner: null }, now: facts.now });
  return { is: isDone ? 'released' : 'going on', sends, news };
}

async function keepOutcomes(
  tx: Transaction,
  owned: WebhookEndpoint,
  { ref, ended, retrySeconds, now }: StepFacts,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly news: readonly EndpointNews[] }> {
  const news: EndpointNews[] = [];
  let endpoint = owned;
  for (const { delivery, attempt, random } of ended) {
    const outcome = judgeAttempt(delivery.attempts, attempt, { retrySeconds, random });
    const patch = { ...outcome, ...attemptColumns(attempt) };
    await writeOutcome(tx, delivery, { patch, now });
    const health = judgeHealth(endpoint, attempt, outcome.state === 'failed');
    await writeOwned(tx, ref, { patch: health.patch, now });
    endpoint = { ...endpoint, ...health.patch };
    if (health.tell !== null) news.push({ tell: health.tell, endpoint, attempt });
  }
  return { endpoint, news };
}

/** The columns of a delivery's row that say how its last attempt ended. */
export function attemptColumns(attempt: SentAttempt) {
  const { status, error, responseStart, durationMs } = attempt;
  const attemptedAt = instantText(attempt.at);
  return {
    ...{ attemptedAt, status, error, responseStart, durationMs },
    ...(isTaken(attempt) && { deliveredAt: attemptedAt }),
  };
}

interface Planned {
  readonly endpoint: WebhookEndpoint;
  /** There are events after the cursor, or a replay waits for what is under way. */
  readonly hasMore: boolean;
}

async function planMore(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  { ref, inFlight, takesMore, now }: StepFacts,
): Promise<Planned> {
  const { id, replayAfter } = endpoint;
  if (!takesMore || endpoint.state === 'disabled') return { endpoint, hasMore: false };
  if (replayAfter !== null && inFlight.length > 0) return { endpoint, hasMore: true };
  if (replayAfter !== null) await dropPendingAfter(tx, id, replayAfter);
  const begun = { ...endpoint, cursor: replayAfter ?? endpoint.cursor, replayAfter: null };
  const cursor = await planNext(tx, begun, now);
  if (cursor !== endpoint.cursor || replayAfter !== null)
    await writeOwned(tx, ref, { patch: { cursor, replayAfter: null }, now });
  return { endpoint: { ...begun, cursor }, hasMore: await hasEventsAfter(tx, begun, cursor) };
}

async function hasEventsAfter(
  tx: Transaction,
  { format }: WebhookEndpoint,
  cursor: number,
): Promise<boolean> {
  return (
    format === 'json' && ((await readNumber(tx, sql`select max(seq) as seq from changes`)) ?? 0) > cursor
  );
}

interface Chosen {
  readonly sends: EndpointStep['sends'];
  /** Nothing may be sent now. */
  readonly isIdle: boolean;
}

async function chooseSends(tx: Transaction, endpoint: WebhookEndpoint, facts: StepFacts): Promise<Chosen> {
  const { inFlight, takesMore, secretsOf, now } = facts;
  const { id: endpointId, state, replayAfter, notBefore } = endpoint;
  const isPaused = notBefore !== null && notBefore > instantText(now);
  if (!takesMore || state === 'disabled' || replayAfter !== null || isPaused)
    return { sends: [], isIdle: true };
  const limit = SENT_AT_ONCE - inFlight.length;
  const due = await readyDeliveries(tx, { endpointId, except: inFlight, now, limit });
  if (due.length === 0) return { sends: [], isIdle: true };
  const secrets = secretsOf(endpoint) ?? (await readSecrets(tx, endpointId, now));
  const sends: EndpointSend[] = [];
  for (const delivery of due) {
    const body = await bodyOf(tx, delivery, endpoint);
    if (body === null) await drop(tx, delivery, now);
    else sends.push({ ...body, endpoint, webhookId: delivery.webhookId, secrets, delivery });
  }
  return { sends, isIdle: false };
}

/** Null if the event was erased meanwhile. */
async function bodyOf(tx: Transaction, { seq, body }: Delivery, { format }: WebhookEndpoint) {
  if (body !== null) return formatNews(body, format);
  if (seq === null) return null;
  const [change] = await readChanges(tx, { after: seq - 1, upTo: seq, limit: 1 });
  return change === undefined ? null : { contentType: 'application/json', body: changeBody(change) };
}

async function drop(tx: Transaction, delivery: Delivery, now: Date): Promise<void> {
  await writeOutcome(tx, delivery, { patch: { state: 'dropped', nextAttemptAt: null }, now });
}
