import type { Clock } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Session } from '../../mirror/session/session.ts';
import { claimEndpoint } from '../../mirror/webhooks/endpoint-queue.ts';
import { takeStep } from './endpoint-step.ts';
import type { EndpointStep, StepFacts } from './endpoint-step.ts';
import { createFlight } from './flight.ts';
import type { Flight } from './flight.ts';
import type { Sender } from './sender.ts';
import { tellEndpoint } from './tell-endpoint.ts';

/** The dependencies of deliveries. */
export interface DeliveryParts extends Pick<StepFacts, 'retrySeconds' | 'secretsOf'> {
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

/** Claims an endpoint and sends its deliveries until nothing is due; does nothing if it is no longer free. */
export async function workEndpoint(parts: DeliveryParts, ref: WorkRef, signal: AbortSignal): Promise<void> {
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
