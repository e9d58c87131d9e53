import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sleepUnlessStopped } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Session } from '../../mirror/session/session.ts';
import { claimEndpoint } from '../../mirror/webhooks/endpoint-queue.ts';
import { takeStep } from './endpoint-step.ts';
import type { EndedAttempt, EndpointSend, EndpointStep, StepFacts } from './endpoint-step.ts';
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
  /** Fires when this process is to end: what is under way is finished, no more is taken. */
  readonly stopping: AbortSignal;
  /** Calls back when this process has committed changes; returns the function that ends it. */
  readonly onCommit: (listener: () => void) => () => Promise<void>;
}

/** While requests are under way, how often an owner looks for events that other processes have committed. */
const LOOK_MS = 500;

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
      for (const send of step.sends) flight.start(send);
      if (flight.inFlight().length > 0) await flight.pause();
    }
  } finally {
    await flight.end();
  }
}

async function nextStep(parts: DeliveryParts, flight: Flight, ref: WorkRef): Promise<EndpointStep> {
  const { session, clock, retrySeconds, secretsOf, stopping } = parts;
  const [ended, inFlight] = [flight.takeEnded(), flight.inFlight()];
  const takesMore = !stopping.aborted && !flight.isCut();
  const facts = { ref, ended, inFlight, takesMore, retrySeconds, secretsOf, now: clock.now() };
  return session.atomically((tx) => takeStep(tx, facts));
}

/** The requests to one endpoint that are under way. */
interface Flight {
  start(send: EndpointSend): void;
  /** Ids of the deliveries that are being sent. */
  inFlight(): readonly number[];
  /** The attempts that have ended since the last call. */
  takeEnded(): readonly EndedAttempt[];
  /** Resolves once an attempt has ended, or there may be more to send. */
  pause(): Promise<void>;
  /** The grace period is over: what was under way was cut off, and its outcomes are not kept. */
  isCut(): boolean;
  /** Cuts off what is under way. */
  end(): Promise<void>;
}

function createFlight({ sender, clock, random, onCommit }: DeliveryParts, signal: AbortSignal): Flight {
  const running = new Map<number, Promise<void>>();
  const ended: EndedAttempt[] = [];
  const cut = new AbortController();
  const abort = (): void => {
    cut.abort();
  };
  signal.addEventListener('abort', abort);
  const waker = createWaker(clock);
  const stopListening = onCommit(waker.wake);
  return {
    start: ({ delivery, ...send }) => {
      const end = sender.send(send, cut.signal).then((attempt) => {
        running.delete(delivery.id);
        if (cut.signal.aborted) return; // It was not the receiver that failed.
        ended.push({ delivery, attempt, random: random() });
        waker.wake();
      });
      running.set(delivery.id, end);
    },
    inFlight: () => [...running.keys()],
    takeEnded: () => {
      waker.reset();
      return ended.splice(0);
    },
    pause: waker.pause,
    isCut: () => cut.signal.aborted,
    end: async () => {
      signal.removeEventListener('abort', abort);
      await stopListening();
      abort();
      await Promise.all(running.values());
    },
  };
}

/** A pause that is over at once if it was woken since the last reset. */
interface Waker {
  readonly wake: () => void;
  readonly reset: () => void;
  readonly pause: () => Promise<void>;
}

function createWaker(clock: Clock): Waker {
  let woken = new AbortController();
  return {
    wake: () => {
      woken.abort();
    },
    reset: () => {
      woken = new AbortController();
    },
    pause: async () => {
      await sleepUnlessStopped(LOOK_MS, { clock, signal: woken.signal });
      await yieldToEventLoop(); // Attempts that end together are kept together.
    },
  };
}
