import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import {
  dropPendingAfter,
  readyDeliveries,
  wakeNext,
  writeOutcomes,
} from '../../mirror/webhooks/delivery-queue.ts';
import type { DeliveryOutcome } from '../../mirror/webhooks/delivery-queue.ts';
import type { Delivery } from '../../mirror/webhooks/delivery-store.ts';
import { readOwned, writeOwned } from '../../mirror/webhooks/endpoint-queue.ts';
import { readSecrets } from '../../mirror/webhooks/endpoint-store.ts';
import type { WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import { readChangesOf } from '../read-changes.ts';
import type { RecordedChange } from '../read-changes.ts';
import type { SecretsOf } from './endpoints.ts';
import { isTaken, judgeAttempt, judgeHealth } from './judge-attempt.ts';
import type { HealthStep, RetryRules, SentAttempt } from './judge-attempt.ts';
import { changeBody, formatNews } from './payload.ts';
import type { FormattedBody } from './payload.ts';
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
  readonly tell: Exclude<HealthStep['tell'], null>;
  readonly endpoint: WebhookEndpoint;
  readonly attempt: SentAttempt;
}

export interface StepFacts {
  /** The endpoint as this process has claimed it. */
  readonly ref: WorkRef;
  readonly ended: readonly EndedAttempt[];
  /** Ids of the deliveries that are still in hand. */
  readonly inFlight: readonly number[];
  /** False once this process is to end. */
  readonly takesMore: boolean;
  readonly retrySeconds: RetryRules['retrySeconds'];
  readonly secretsOf: SecretsOf;
  readonly now: Date;
}

/** How many deliveries of an endpoint its owner takes in hand: more than it sends at once, so that sending waits for no step. */
const IN_HAND = 128;

/** A delivery to be sent now. */
export interface EndpointSend extends SendableDelivery {
  readonly delivery: Delivery;
}

/** The next step of an owner: `lost` = the endpoint is no longer its own. */
export interface EndpointStep {
  readonly is: 'going on' | 'released' | 'lost';
  readonly sends: readonly EndpointSend[];
  readonly news: readonly EndpointNews[];
  /** The endpoint was disabled: deliveries in hand that were not begun are put back. */
  readonly isDisabled: boolean;
  /** The events up to here need no step: they were planned, or are none of this endpoint's. */
  readonly cursor: number;
}

/**
 * Takes an endpoint one step further, in one transaction: keeps the outcomes of attempts, plans deliveries of new events,
 * chooses what to send now, and gives the endpoint back where nothing is left to do.
 */
export async function takeStep(tx: Transaction, facts: StepFacts): Promise<EndpointStep> {
  const owned = await readOwned(tx, facts.ref);
  if (owned === null) return { is: 'lost', sends: [], news: [], isDisabled: false, cursor: 0 };
  const { endpoint: judged, news } = await keepOutcomes(tx, owned, facts);
  const planned = await planMore(tx, judged, facts);
  const { sends, isIdle } = await chooseSends(tx, planned.endpoint, facts);
  const isDone = isIdle && facts.inFlight.length === 0 && !planned.hasMore;
  if (isDone) await writeOwned(tx, facts.ref, { patch: { owner: null }, now: facts.now });
  const { format, cursor, state } = planned.endpoint;
  const plannedUpTo = format === 'json' ? cursor : Infinity;
  const is = isDone ? 'released' : 'going on';
  return { is, sends, news, isDisabled: state === 'disabled', cursor: plannedUpTo };
}

async function keepOutcomes(
  tx: Transaction,
  owned: WebhookEndpoint,
  { ref, ended, retrySeconds, now }: StepFacts,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly news: readonly EndpointNews[] }> {
  if (ended.length === 0) return { endpoint: owned, news: [] };
  const [news, outcomes]: [EndpointNews[], DeliveryOutcome[]] = [[], []];
  let patch: HealthStep['patch'] = {};
  for (const { delivery, attempt, random } of ended) {
    const outcome = judgeAttempt(delivery.attempts, attempt, { retrySeconds, random });
    outcomes.push({ delivery, patch: { ...outcome, ...attemptColumns(attempt) } });
    const health = judgeHealth({ ...owned, ...patch }, attempt, outcome.state === 'failed');
    patch = { ...patch, ...health.patch };
    if (health.tell !== null) news.push({ tell: health.tell, endpoint: { ...owned, ...patch }, attempt });
  }
  await writeOutcomes(tx, outcomes);
  const recordIds = ended.flatMap(({ delivery: { recordId } }) => recordId ?? []);
  await wakeNext(tx, owned.id, { recordIds, now });
  await writeOwned(tx, ref, { patch, now });
  return { endpoint: { ...owned, ...patch }, news };
}

/** The columns of a delivery's row that say how its last attempt ended. */
export function attemptColumns(attempt: SentAttempt) {
  const { status, error, responseStart, durationMs } = attempt;
  const attemptedAt = instantText(attempt.at);
  return {
    ...{ attemptedAt, status, error, responseStart, durationMs },
    ...{ deliveredAt: isTaken(attempt) ? attemptedAt : null },
  };
}

interface Planned {
  readonly endpoint: WebhookEndpoint;
  /** There are events after the cursor, or a replay waits for the attempts under way. */
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
  const { cursor, hasMore } = await planNext(tx, begun, now);
  if (cursor !== endpoint.cursor || replayAfter !== null)
    await writeOwned(tx, ref, { patch: { cursor, replayAfter: null }, now });
  return { endpoint: { ...begun, cursor }, hasMore };
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
  const limit = IN_HAND - inFlight.length;
  const due = await readyDeliveries(tx, { endpointId, except: inFlight, now, limit });
  if (due.length === 0) return { sends: [], isIdle: true };
  const secrets = secretsOf(endpoint) ?? (await readSecrets(tx, endpointId, now));
  const changes = await readContents(tx, due);
  const [sends, dropped]: [EndpointSend[], Delivery[]] = [[], []];
  for (const delivery of due) {
    const body = bodyOf(delivery, endpoint, changes);
    if (body === null) dropped.push(delivery);
    else sends.push({ ...body, endpoint, webhookId: delivery.webhookId, secrets, delivery });
  }
  const patch = { state: 'dropped', nextAttemptAt: null } as const;
  await writeOutcomes(
    tx,
    dropped.map((delivery) => ({ delivery, patch })),
  );
  await wakeNext(tx, endpointId, { recordIds: dropped.flatMap(({ recordId }) => recordId ?? []), now });
  return { sends, isIdle: false };
}

/** The events of deliveries, by `seq`. */
async function readContents(
  tx: Transaction,
  due: readonly Delivery[],
): Promise<ReadonlyMap<number, RecordedChange>> {
  const changes = await readChangesOf(
    tx,
    due.flatMap(({ seq }) => seq ?? []),
  );
  return new Map(changes.map((change) => [change.seq, change]));
}

/** Null if the event was erased meanwhile. */
function bodyOf(
  { seq, body }: Delivery,
  { format }: WebhookEndpoint,
  changes: ReadonlyMap<number, RecordedChange>,
): FormattedBody | null {
  if (body !== null) return formatNews(body, format);
  const change = changes.get(seq ?? 0);
  return change === undefined ? null : { contentType: 'application/json', body: changeBody(change) };
}
