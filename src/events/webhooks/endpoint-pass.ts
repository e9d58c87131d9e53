import { formatInstant } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Transaction } from '../../db/session/session.ts';
import { dropPendingAfter, writeOutcomes, type DeliveryOutcome, type Delivery } from './delivery-queue.ts';
import { changeEndpoint, readOwnedEndpoint } from './endpoint-store.ts';
import { type WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { chooseSends } from './choose-sends.ts';
import { isAccepted, judgeAttempt, judgeHealth, type HealthStep, type SentAttempt } from './judge-attempt.ts';
import type { ChoiceFacts } from './messages.ts';
import { scheduleNext } from './schedule-deliveries.ts';

/** A delivery whose attempt has ended. */
export interface EndedAttempt {
  readonly delivery: Delivery;
  readonly attempt: SentAttempt;
  /** From 0 to 1, drawn once: a transaction may run again. */
  readonly random: number;
}

/** A change in the health of an endpoint, for the log. */
export interface EndpointHealthChange {
  readonly transition: NonNullable<HealthStep['transition']>;
  readonly endpoint: WebhookEndpoint;
  readonly attempt: SentAttempt;
}

interface PassFacts extends ChoiceFacts {
  /** The endpoint as this process has claimed it. */
  readonly ref: WorkRef;
  readonly ended: readonly EndedAttempt[];
  /** False once this process is to end. */
  readonly canTakeMore: boolean;
  readonly retrySeconds: readonly number[];
}

/**
 * Works an endpoint once, in one transaction: stores the outcomes of attempts, schedules deliveries of new events, and chooses
 * what to send now. Releases the endpoint if nothing is left to do. Stops if another process has claimed the endpoint.
 */
export async function runPass(tx: Transaction, facts: PassFacts) {
  const { ref, inFlight, canTakeMore, now } = facts;
  const owned = await readOwnedEndpoint(tx, ref);
  if (owned === null) return { sends: [], healthChanges: [], isOver: true };
  const { patch: health, healthChanges } = await applyOutcomes(tx, owned, facts);
  const judged = { ...owned, ...health };
  const shouldContinue = canTakeMore && judged.state === 'active';
  const scheduled = shouldContinue ? await scheduleMore(tx, judged, facts) : { patch: {}, hasMore: false };
  const chosen = shouldContinue
    ? await chooseSends(tx, { ...judged, ...scheduled.patch }, facts)
    : { sends: [], hasMore: false };
  const hasMore = scheduled.hasMore || chosen.hasMore || chosen.sends.length > 0 || inFlight.length > 0;
  const patch = { ...health, ...scheduled.patch, ...(!hasMore && { owner: null }) };
  if (Object.keys(patch).length > 0) await changeEndpoint(tx, ref, patch, now);
  return { sends: chosen.sends, healthChanges, isOver: !hasMore };
}

async function applyOutcomes(tx: Transaction, owned: WebhookEndpoint, facts: PassFacts) {
  const healthChanges: EndpointHealthChange[] = [];
  const outcomes: DeliveryOutcome[] = [];
  let patch: HealthStep['patch'] = {};
  for (const { delivery, attempt, random } of facts.ended) {
    const outcome = judgeAttempt(delivery.attempts, attempt, { retrySeconds: facts.retrySeconds, random });
    outcomes.push({ delivery, patch: { ...outcome, ...attemptColumns(attempt) } });
    const health = judgeHealth({ ...owned, ...patch }, attempt, outcome.state === 'failed');
    patch = { ...patch, ...health.patch };
    if (health.transition !== null)
      healthChanges.push({ transition: health.transition, endpoint: { ...owned, ...patch }, attempt });
  }
  await writeOutcomes(tx, outcomes, facts.now);
  return { patch, healthChanges };
}

/** The columns of a delivery's row that describe its last attempt. */
export function attemptColumns(attempt: SentAttempt) {
  const { status, error, responseStart, durationMs } = attempt;
  const attemptedAt = formatInstant(attempt.at);
  const deliveredAt = isAccepted(attempt.status) ? attemptedAt : null;
  return { attemptedAt, status, error, responseStart, durationMs, deliveredAt };
}

/** Schedules the next deliveries. `hasMore`: events lie after the cursor, or a replay waits for the attempts under way. */
async function scheduleMore(tx: Transaction, endpoint: WebhookEndpoint, facts: PassFacts) {
  const { id, replayAfter } = endpoint;
  if (replayAfter !== null && facts.inFlight.length > 0) return { patch: {}, hasMore: true };
  if (replayAfter !== null) await dropPendingAfter(tx, id, replayAfter);
  const from = replayAfter ?? endpoint.cursor;
  const { cursor, hasMore } = await scheduleNext(tx, { ...endpoint, cursor: from }, facts.now);
  const hasMoved = cursor !== endpoint.cursor || replayAfter !== null;
  return { patch: hasMoved ? { cursor, replayAfter: null } : {}, hasMore };
}
