import type { Logger } from '../../lib/log/logger.ts';
import { instantOf } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { WorkQueue, WorkRef } from '../../lib/work-queue.ts';
import type { Session } from '../../mirror/session/session.ts';
import {
  claimEndpoint,
  dueEndpoints,
  freeEndpoints,
  raiseEndpoint,
} from '../../mirror/webhooks/endpoint-queue.ts';
import { takeStep } from './endpoint-step.ts';
import type { EndpointNews, EndpointStep, StepFacts } from './endpoint-step.ts';
import { createFlight } from './flight.ts';
import type { Flight } from './flight.ts';
import type { Sender } from './sender.ts';

/** The name under which processes tell each other of due endpoints. */
export const WEBHOOK_QUEUE = { name: 'webhooks', jobPrefix: 'wh' } as const;

/** Endpoints worked at once: a slow one keeps its place for as long as it has deliveries, so there must be places for all. */
const ENDPOINTS_AT_ONCE = 200;

/** The dependencies of deliveries. */
interface DeliveryParts extends Pick<StepFacts, 'retrySeconds' | 'secretsOf'> {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of this process in rows that it owns. */
  readonly owner: string;
  readonly sender: Sender;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Fires when this process is to end: attempts under way are finished, no more are taken. */
  readonly stopping: AbortSignal;
  /** Calls back when this process has committed changes; returns the function that ends it. */
  readonly onCommit: (listener: () => void) => () => Promise<void>;
}

interface WebhookQueueParts extends DeliveryParts {
  /** Called after each work: an event may have been committed just as the endpoint was given back. */
  readonly onWorked: () => void;
  /** The owners of rows that are at work. */
  readonly livingOwners: () => Promise<ReadonlySet<string>>;
}

/** Endpoints as a queue of work rows. */
export function createWebhookQueue(parts: WebhookQueueParts): WorkQueue {
  const { session, clock, owner, livingOwners, onWorked, stopping } = parts;
  const inHand = new Map<number, number>(); // How many works of an endpoint run; one of them at most has claimed it.
  const count = (id: number, step: 1 | -1): void => {
    inHand.set(id, (inHand.get(id) ?? 0) + step);
  };
  return {
    ...WEBHOOK_QUEUE,
    concurrency: ENDPOINTS_AT_ONCE,
    due: async (limit) => (stopping.aborted ? [] : dueEndpoints(session, clock.now(), limit)),
    raise: (ref) => session.atomically((tx) => raiseEndpoint(tx, ref)),
    work: async (ref, signal) => {
      count(ref.id, 1);
      try {
        await workEndpoint(parts, ref, signal);
        setImmediate(onWorked);
      } finally {
        count(ref.id, -1);
      }
    },
    // An endpoint of ours that is not being worked was dropped by an error.
    takeOver: async () => {
      const living = await livingOwners();
      await session.atomically((tx) =>
        freeEndpoints(tx, (endpoint) =>
          endpoint.owner === owner ? (inHand.get(endpoint.id) ?? 0) === 0 : !living.has(endpoint.owner),
        ),
      );
    },
  };
}

/** Claims an endpoint and sends its deliveries until nothing is due; does nothing if it is no longer free. */
async function workEndpoint(parts: DeliveryParts, ref: WorkRef, signal: AbortSignal): Promise<void> {
  const { session, clock, owner } = parts;
  const claimed = await session.atomically((tx) => claimEndpoint(tx, { ...ref, owner, now: clock.now() }));
  if (claimed === null) return;
  const flight = createFlight(parts, signal);
  try {
    for (;;) {
      const step = await nextStep(parts, flight, { id: claimed.id, epoch: claimed.epoch });
      for (const news of step.news) tellEndpoint(parts.logger, news);
      if (step.is !== 'going on') return;
      if (step.isDisabled) flight.putBack();
      for (const send of step.sends) flight.start(send);
      if (flight.inFlight().length > 0) await flight.pause(step.cursor);
    }
  } finally {
    await flight.end();
  }
}

async function nextStep(parts: DeliveryParts, flight: Flight, ref: WorkRef): Promise<EndpointStep> {
  const { session, clock, retrySeconds, secretsOf, stopping } = parts;
  const takesMore = !stopping.aborted && !flight.isCut();
  if (!takesMore) flight.putBack();
  const [ended, inFlight] = [flight.takeEnded(), flight.inFlight()];
  const facts = { ref, ended, inFlight, takesMore, retrySeconds, secretsOf, now: clock.now() };
  return session.atomically((tx) => takeStep(tx, facts));
}

/** Tells in the log of an endpoint that fails, takes deliveries again, or was disabled. Its address may be a secret. */
function tellEndpoint(logger: Logger, { tell, endpoint, attempt }: EndpointNews): void {
  const { name, failingSince, failures, disabledReason } = endpoint;
  const since = failingSince === null ? null : instantOf(failingSince).toISOString();
  const facts = { event: `webhook.${tell}`, endpoint: name };
  if (tell === 'back') {
    logger.info(facts, `the webhook endpoint ${name} takes deliveries again`);
    return;
  }
  const why = { since, failures, status: attempt.status, error: attempt.error };
  const answer = attempt.status === null ? `no answer (${attempt.error ?? ''})` : `HTTP ${attempt.status}`;
  if (tell === 'failing') {
    const hint = 'What it has missed is sent again later; bms-sync webhooks list shows what waits.';
    logger.warn({ ...facts, ...why, hint }, `the webhook endpoint ${name} takes no deliveries: ${answer}`);
    return;
  }
  const hint = `Mend the receiver, then: bms-sync webhooks replay ${name} --after SEQ.`;
  const reason = disabledReason === 'gone' ? 'it has answered 410 Gone' : 'it has failed for days';
  logger.warn(
    { ...facts, ...why, reason: disabledReason, hint },
    `the webhook endpoint ${name} is disabled: ${reason}`,
  );
}
