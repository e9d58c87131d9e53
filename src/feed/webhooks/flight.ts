import PQueue from 'p-queue';
import { sleepUnlessStopped } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import { latestSeq } from '../../mirror/records/change-store.ts';
import type { EndedAttempt, EndpointSend } from './endpoint-step.ts';
import { asksForQuiet } from './judge-attempt.ts';
import { SENT_AT_ONCE } from './sender.ts';
import type { Sender } from './sender.ts';

interface FlightParts {
  readonly session: Queryable;
  readonly sender: Sender;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Calls back when this process has committed changes; returns the function that ends it. */
  readonly onCommit: (listener: () => void) => () => Promise<void>;
}

/** The deliveries of one endpoint that are in hand: being sent, or waiting for their turn. */
export interface Flight {
  start(send: EndpointSend): void;
  /** Ids of the deliveries in hand. */
  inFlight(): readonly number[];
  /** Puts back the deliveries that were not begun. */
  putBack(): void;
  /** The attempts that have ended since the last call. */
  takeEnded(): readonly EndedAttempt[];
  /** Resolves once an attempt has ended, or there may be more to send than the events up to `cursor`. */
  pause(cursor: number): Promise<void>;
  /** The grace period is over: the attempts under way were cut off, and their outcomes are not kept. */
  isCut(): boolean;
  /** Cuts off the attempts under way. */
  end(): Promise<void>;
}

/** @param signal Fires when the grace period of running work is over. */
export function createFlight(parts: FlightParts, signal: AbortSignal): Flight {
  const ended: EndedAttempt[] = [];
  const cut = new AbortController();
  const abort = (): void => {
    cut.abort();
  };
  signal.addEventListener('abort', abort);
  const waker = createWaker(parts);
  const stopListening = parts.onCommit(waker.wake);
  const hand = createHand(async ({ delivery, ...sendable }) => {
    const attempt = await parts.sender.send(sendable, cut.signal);
    if (cut.signal.aborted) return; // It was not the receiver that failed.
    if (asksForQuiet(attempt)) hand.putBack();
    ended.push({ delivery, attempt, random: parts.random() });
    waker.wake();
  });
  return {
    start: hand.take,
    inFlight: hand.ids,
    putBack: hand.putBack,
    takeEnded: () => {
      waker.reset();
      return ended.splice(0);
    },
    pause: waker.pause,
    isCut: () => cut.signal.aborted,
    end: async () => {
      signal.removeEventListener('abort', abort);
      await stopListening();
      hand.putBack();
      abort();
      await hand.isEmpty();
    },
  };
}

/** Deliveries that this process has taken, some of which wait for their turn. */
interface Hand {
  readonly take: (send: EndpointSend) => void;
  readonly ids: () => readonly number[];
  readonly putBack: () => void;
  readonly isEmpty: () => Promise<void>;
}

function createHand(send: (one: EndpointSend) => Promise<void>): Hand {
  const turns = new PQueue({ concurrency: SENT_AT_ONCE });
  const [begun, waiting] = [new Set<number>(), new Set<number>()];
  return {
    take: (one) => {
      const { id } = one.delivery;
      waiting.add(id);
      void turns.add(async () => {
        waiting.delete(id);
        begun.add(id);
        await send(one);
        begun.delete(id);
      });
    },
    ids: () => [...begun, ...waiting],
    putBack: () => {
      turns.clear();
      waiting.clear();
    },
    isEmpty: () => turns.onIdle(),
  };
}

/** How often an owner with deliveries in hand looks for events that other processes have committed. */
const LOOK_MS = 100;

/** After so many looks it takes a step in any case: a retry may be due. */
const MOST_LOOKS = 10;

/** Attempts and events that follow each other so soon share a transaction. */
const GATHER_MS = 20;

/** A pause that is over soon after it was woken, if that was since the last reset. */
interface Waker {
  readonly wake: () => void;
  readonly reset: () => void;
  readonly pause: (cursor: number) => Promise<void>;
}

function createWaker({ session, clock }: Pick<FlightParts, 'session' | 'clock'>): Waker {
  let woken = new AbortController();
  const isWoken = (): boolean => woken.signal.aborted;
  return {
    wake: () => {
      woken.abort('woken'); // Without a reason, each wake would make an error.
    },
    reset: () => {
      woken = new AbortController();
    },
    pause: async (cursor) => {
      for (let looks = 0; looks < MOST_LOOKS && !isWoken(); looks += 1) {
        await sleepUnlessStopped(LOOK_MS, { clock, signal: woken.signal });
        if (!isWoken() && (await latestSeq(session)) > cursor) return;
      }
      await clock.sleep(GATHER_MS);
    },
  };
}
