import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Transaction } from '../../db/session/session.ts';
import {
  dropPendingAfter,
  readyDeliveries,
  wakeNext,
  writeOutcomes,
} from '../../mirror/webhooks/delivery-queue.ts';
import type { DeliveryOutcome, Delivery } from '../../mirror/webhooks/delivery-queue.ts';
import { changeEndpoint, readOwned, readSecrets } from '../../mirror/webhooks/endpoint-store.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import { readChangesOf } from '../read-changes.ts';
import { isTaken, judgeAttempt, judgeHealth } from './judge-attempt.ts';
import type { HealthStep, SentAttempt } from './judge-attempt.ts';
import { changeBody, formatNews } from './payload.ts';
import { planNext } from './plan-deliveries.ts';
import type { SendableDelivery } from './sender.ts';

/** A delivery whose attempt has ended. */
export interface EndedAttempt {
  readonly delivery: Delivery;
  readonly attempt: SentAttempt;
  /** From 0 to 1, drawn once: a transaction may run again. */
  readonly random: number;
}

/** The news of an endpoint for a person. */
export interface EndpointNews {
  readonly tell: NonNullable<HealthStep['tell']>;
  readonly endpoint: WebhookEndpoint;
  readonly attempt: SentAttempt;
}

interface PassFacts {
  /** The endpoint as this process has claimed it. */
  readonly ref: WorkRef;
  readonly ended: readonly EndedAttempt[];
  /** Ids of the deliveries that are being sent. */
  readonly inFlight: readonly number[];
  /** False once this process is to end. */
  readonly takesMore: boolean;
  readonly retrySeconds: readonly number[];
  readonly now: Date;
}

/** A delivery to be sent now. */
export type EndpointSend = SendableDelivery & { readonly delivery: Delivery };

/** How many deliveries of one endpoint are sent at once. */
const SENT_AT_ONCE = 16;

/**
 * Takes an endpoint through one pass, in one transaction: keeps the outcomes of attempts, plans deliveries of new events,
 * chooses what to send now, and gives the endpoint back where nothing is left to do. It is over then, and where the endpoint is
 * another process's by now.
 */
export async function takePass(tx: Transaction, facts: PassFacts) {
  const { ref, inFlight, takesMore, now } = facts;
  const owned = await readOwned(tx, ref);
  if (owned === null) return { sends: [], news: [], isOver: true };
  const { patch: health, news } = await keepOutcomes(tx, owned, facts);
  const judged = { ...owned, ...health };
  const goesOn = takesMore && judged.state === 'active';
  const planned = goesOn ? await planMore(tx, judged, facts) : { patch: {}, hasMore: false };
  const chosen = goesOn ? await chooseSends(tx, { ...judged, ...planned.patch }, facts) : NOTHING;
  const hasMore = planned.hasMore || chosen.hasMore || chosen.sends.length > 0 || inFlight.length > 0;
  const patch = { ...health, ...planned.patch, ...(!hasMore && { owner: null }) };
  if (Object.keys(patch).length > 0) await changeEndpoint(tx, ref, patch, now);
  return { sends: chosen.sends, news, isOver: !hasMore };
}

async function keepOutcomes(
  tx: Transaction,
  owned: WebhookEndpoint,
  { ended, retrySeconds, now }: PassFacts,
) {
  const news: EndpointNews[] = [];
  const outcomes: DeliveryOutcome[] = [];
  let patch: HealthStep['patch'] = {};
  for (const { delivery, attempt, random } of ended) {
    const outcome = judgeAttempt(delivery.attempts, attempt, { retrySeconds, random });
    outcomes.push({ delivery, patch: { ...outcome, ...attemptColumns(attempt) } });
    const health = judgeHealth({ ...owned, ...patch }, attempt, outcome.state === 'failed');
    patch = { ...patch, ...health.patch };
    if (health.tell !== null) news.push({ tell: health.tell, endpoint: { ...owned, ...patch }, attempt });
  }
  await settle(tx, outcomes, now);
  return { patch, news };
}

/** Writes outcomes, and makes the next deliveries of their records ready. */
async function settle(tx: Transaction, outcomes: readonly DeliveryOutcome[], now: Date): Promise<void> {
  const [first] = outcomes;
  if (first === undefined) return;
  await writeOutcomes(tx, outcomes);
  const recordIds = outcomes.flatMap(({ delivery }) => delivery.recordId ?? []);
  await wakeNext(tx, first.delivery.endpointId, recordIds, now);
}

/** The columns of a delivery's row that say how its last attempt ended. */
export function attemptColumns(attempt: SentAttempt) {
  const { status, error, responseStart, durationMs } = attempt;
  const attemptedAt = instantText(attempt.at);
  const deliveredAt = isTaken(attempt) ? attemptedAt : null;
  return { attemptedAt, status, error, responseStart, durationMs, deliveredAt };
}

/** There is more where events lie after the cursor, or a replay waits for the attempts under way. */
async function planMore(tx: Transaction, endpoint: WebhookEndpoint, facts: PassFacts) {
  const { id, replayAfter } = endpoint;
  if (replayAfter !== null && facts.inFlight.length > 0) return { patch: {}, hasMore: true };
  if (replayAfter !== null) await dropPendingAfter(tx, id, replayAfter);
  const from = replayAfter ?? endpoint.cursor;
  const { cursor, hasMore } = await planNext(tx, { ...endpoint, cursor: from }, facts.now);
  const hasMoved = cursor !== endpoint.cursor || replayAfter !== null;
  return { patch: hasMoved ? { cursor, replayAfter: null } : {}, hasMore };
}

const NOTHING = { sends: [] as readonly EndpointSend[], hasMore: false };

/** There is more where some were dropped: others may be ready. */
async function chooseSends(tx: Transaction, endpoint: WebhookEndpoint, facts: PassFacts) {
  const { inFlight, now } = facts;
  const { id: endpointId, replayAfter, notBefore } = endpoint;
  const isPaused = notBefore !== null && notBefore > instantText(now);
  const limit = SENT_AT_ONCE - inFlight.length;
  if (replayAfter !== null || isPaused || limit <= 0) return NOTHING;
  const due = await readyDeliveries(tx, endpointId, { except: inFlight, now, limit });
  if (due.length === 0) return NOTHING;
  const secrets = await readSecrets(tx, endpointId, now);
  const seqs = due.flatMap(({ seq }) => seq ?? []);
  const changes = new Map((await readChangesOf(tx, seqs)).map((change) => [change.seq, change]));
  const sends: EndpointSend[] = [];
  const dropped: DeliveryOutcome[] = [];
  for (const delivery of due) {
    const { webhookId, seq, body } = delivery;
    const change = changes.get(seq ?? 0);
    const event = change && { contentType: 'application/json', body: changeBody(change) };
    const content = body === null ? event : formatNews(body, endpoint.format);
    // Without content, the event was erased meanwhile.
    if (content === undefined) dropped.push({ delivery, patch: { state: 'dropped', nextAttemptAt: null } });
    else sends.push({ ...content, endpoint, webhookId, secrets, delivery });
  }
  await settle(tx, dropped, now);
  return { sends, hasMore: dropped.length > 0 };
}
