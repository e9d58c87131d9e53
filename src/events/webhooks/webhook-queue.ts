import type { Logger } from '../../lib/log/logger.ts';
import { formatRfc3339 } from '../../lib/time/clock.ts';
import type { WorkQueue, WorkRef, WorkResult } from '../../lib/work-queue.ts';
import type { ProcessContext } from '../../db/mirror-context.ts';
import { readLiveOwners } from '../../store/runs/worker-store.ts';
import * as endpoints from './endpoint-store.ts';
import { runPass, type EndedAttempt, type EndpointHealthChange } from './endpoint-pass.ts';
import { isAccepted, type SentAttempt } from './judge-attempt.ts';
import type { EndpointSend, MessageRules } from './messages.ts';
import type { Sender } from './sender.ts';

/** Endpoints worked at once: a slow one keeps its place for as long as it has deliveries, so there must be places for all. */
const ENDPOINTS_AT_ONCE = 200;

interface DeliveryRules {
  readonly retrySeconds: readonly number[];
  readonly reader: MessageRules;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/**
 * Endpoints as a queue of work rows.
 * @param stopping Fires when this process is to end: attempts under way are finished, no more are taken.
 */
export function createWebhookQueue(
  process: ProcessContext,
  sender: Sender,
  rules: DeliveryRules,
  stopping: AbortSignal,
): WorkQueue {
  const { session, clock, owner } = process;
  const delivering = { ...process, ...rules, sender, stopping };
  return {
    name: 'webhooks',
    concurrency: ENDPOINTS_AT_ONCE,
    due: async (limit) => (stopping.aborted ? [] : endpoints.dueEndpoints(session, clock.now(), limit)),
    raise: (ref) => session.atomically((tx) => endpoints.raiseEndpoint(tx, ref)),
    work: async (ref, signal) => {
      const claim = { ...ref, owner, now: clock.now() };
      const claimed = await session.atomically((tx) => endpoints.claimEndpoint(tx, claim));
      return claimed && workEndpoint(delivering, { id: claimed.id, epoch: claimed.epoch }, signal);
    },
    // An endpoint that we own but do not work on was dropped by an error.
    releaseStaleClaims: async (isRunning) => {
      const liveOwners = await readLiveOwners(session);
      await session.atomically((tx) =>
        endpoints.releaseEndpoints(tx, (endpoint) =>
          endpoint.owner === owner ? !isRunning(endpoint.id) : !liveOwners.has(endpoint.owner),
        ),
      );
    },
  };
}

/** How often an owner looks for further events while attempts are under way. */
const POLL_MS = 250;

/** Attempts that end so soon after each other share a transaction. */
const GATHER_MS = 10;

interface Delivering extends ProcessContext, DeliveryRules {
  readonly sender: Sender;
  readonly stopping: AbortSignal;
}

/** Sends the deliveries of an endpoint, pass after pass, until nothing is due. @param signal Cuts the attempts under way. */
async function workEndpoint(delivering: Delivering, ref: WorkRef, signal: AbortSignal): Promise<WorkResult> {
  const { session, clock, logger, retrySeconds, reader, random, sender, stopping } = delivering;
  const inFlight = new Map<number, Promise<void>>();
  const ended: EndedAttempt[] = [];
  let result: WorkResult = null; // Of the first attempt that failed, else of the last one.
  const lost = new AbortController();
  const cut = AbortSignal.any([signal, lost.signal]);
  const send = async ({ deliveries, ...sendable }: EndpointSend): Promise<void> => {
    const attempt = await sender.send(sendable, cut);
    if (!cut.aborted && result?.hasFailed !== true) result = resultOf(attempt);
    for (const delivery of deliveries) {
      inFlight.delete(delivery.id);
      if (!cut.aborted) ended.push({ delivery, attempt, random: random() }); // Else it was not the receiver that failed.
    }
  };
  const startSend = (chosen: EndpointSend): void => {
    const sending = send(chosen);
    for (const { id } of chosen.deliveries) inFlight.set(id, sending);
  };
  try {
    for (;;) {
      const facts = {
        ref,
        ended: ended.splice(0),
        inFlight: [...inFlight.keys()],
        canTakeMore: !stopping.aborted && !cut.aborted,
        retrySeconds,
        reader,
        now: clock.now(),
      };
      const pass = await session.atomically((tx) => runPass(tx, facts));
      for (const healthChange of pass.healthChanges) logHealthChange(logger, healthChange);
      if (pass.isOver) return result;
      for (const chosen of pass.sends) startSend(chosen);
      if (inFlight.size > 0 && ended.length === 0)
        await Promise.race([...inFlight.values(), clock.sleep(POLL_MS)]);
      if (inFlight.size > 0) await clock.sleep(GATHER_MS);
    }
  } finally {
    lost.abort();
    await Promise.all(inFlight.values());
  }
}

/** What an attempt came to. A receiver that asks us to wait (429) has put it off. */
function resultOf({ status, error }: SentAttempt): WorkResult {
  const isDone = isAccepted(status);
  const verdict = error ?? `status_${status ?? 'none'}`;
  return { state: isDone ? 'delivered' : 'undelivered', verdict, hasFailed: !isDone && status !== 429 };
}

/** Logs an endpoint that fails, works again, or was disabled. Its address may be a secret. */
function logHealthChange(logger: Logger, { transition, endpoint, attempt }: EndpointHealthChange): void {
  const { name, failures, failingSince, disabledReason: reason } = endpoint;
  const facts = { event: `webhook.${transition}`, endpoint: name };
  if (transition === 'back')
    return logger.info(facts, `the webhook endpoint ${name} accepts deliveries again`);
  const { status, error } = attempt;
  const since = failingSince === null ? null : formatRfc3339(failingSince);
  const why = { ...facts, since, failures, status, error };
  if (transition === 'failing') {
    const answer = status === null ? (error ?? '') : `HTTP ${status}`;
    const hint = 'Missed deliveries are sent again later; bms-sync webhooks list shows them.';
    return logger.warn({ ...why, hint }, `the webhook endpoint ${name} accepts no deliveries: ${answer}`);
  }
  const hint = `Fix the receiver, then run: bms-sync webhooks replay ${name} --after SEQ`;
  const cause = reason === 'gone' ? 'it answered 410 Gone' : 'it has failed for days';
  logger.warn({ ...why, reason, hint }, `the webhook endpoint ${name} is disabled: ${cause}`);
}
