import pRetry, { type RetryContext } from 'p-retry';
import type { Clock } from '../../lib/time/clock.ts';
import type { SourceParts, SourceSettings } from './http.ts';
import { SourceError } from './errors.ts';

/** Runs when its turn has come: paced, a few at a time. Rejects where the signal fires first. */
type RunInTurn = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Creates the queue that all requests of a source wait in: a semaphore and a rate limit. Each counts as it takes its turn. */
export function createRequestQueue(
  settings: SourceSettings,
  clock: Clock,
  counts: { requests: number },
): RunInTurn {
  const semaphore = createSemaphore(settings.concurrency);
  const waitForSlot = createPace(settings.requestsPerSecond, clock);

  return async (run, signal) => {
    await semaphore.enter(signal);
    try {
      await waitForSlot(signal);
      counts.requests++;
      return await run();
    } finally {
      semaphore.leave();
    }
  };
}

/** Waiting callers enter in order; `enter` rejects where the signal fires first. Every entry needs a `leave`. */
function createSemaphore(size: number) {
  let running = 0;
  const waiting = new Set<() => void>();

  return {
    enter: (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      if (running < size) {
        running++;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = (): void => {
          waiting.delete(admit);
          reject(new Error('aborted while waiting'));
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(admit);
      });
    },
    leave: (): void => {
      running--;
      for (const next of waiting) {
        if (running >= size) return;
        waiting.delete(next);
        running++;
        next();
      }
    },
  };
}

/** Spaces sends evenly: each call resolves when its turn has come. Without a rate, at once. */
function createPace(requestsPerSecond: number | null, clock: Clock): (signal: AbortSignal) => Promise<void> {
  if (requestsPerSecond === null) return () => Promise.resolve();
  let next = -Infinity;
  return async (signal) => {
    const now = clock.monotonicMs();
    const turn = Math.max(now, next);
    next = turn + 1000 / requestsPerSecond;
    if (turn > now) await clock.sleep(turn - now, signal);
  };
}

const LONG_WAIT_MS = 2_000; // After a longer silence a person would take the program for stuck.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const NO_ANSWER: readonly string[] = ['unreachable', 'timeout', 'interrupted'];

export type RetriedAttempt<T> = (attemptNumber: number) => Promise<T>;

/** Runs an attempt until it succeeds, fails permanently, or has used up its attempts. */
type Retry = <T>(attempt: RetriedAttempt<T>, signal: AbortSignal) => Promise<T>;

/**
 * Creates a `Retry` whose requests share their experience: once all attempts of one have found the service unreachable, each gets
 * a single attempt until any answer arrives, so that ten lists do not wait ten times for a dead host. The same holds while answers
 * stay garbled, until a good one arrives.
 */
export function createRetry(
  maxAttempts: number,
  { clock, logger, random = Math.random }: SourceParts,
): Retry {
  let isDown = false;
  let isAnsweringGarbled = false;
  const canRetry = (error: Error): error is SourceError =>
    error instanceof SourceError &&
    error.passing !== undefined &&
    !isDown &&
    !(isAnsweringGarbled && isGarbled(error));

  const waitAfter = async (context: RetryContext, signal: AbortSignal) => {
    const { error, attemptNumber, retriesLeft } = context;
    if (error instanceof SourceError && !NO_ANSWER.includes(error.reason)) isDown = false;
    if (retriesLeft === 0 || !canRetry(error)) return;
    // Full jitter: anywhere between nothing and a bound that doubles with every attempt.
    const mostMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attemptNumber - 1));
    const waitMs = error.passing?.waitMs ?? random() * mostMs;
    if (waitMs >= LONG_WAIT_MS)
      logger.warn({ fault: error.message, waitMs: Math.round(waitMs) }, 'waiting to ask again');
    await clock.sleep(waitMs, signal);
  };

  return async (attempt, signal) => {
    try {
      const result = await pRetry(attempt, {
        signal,
        retries: maxAttempts - 1,
        minTimeout: 0, // The waiting is done on our clock.
        shouldRetry: (context) => canRetry(context.error),
        onFailedAttempt: (context) => waitAfter(context, signal),
      });
      isDown = false;
      isAnsweringGarbled = false;
      return result;
    } catch (error) {
      isAnsweringGarbled ||= isGarbled(error);
      if (error instanceof SourceError && error.reason === 'unreachable') isDown = true;
      throw error;
    }
  };
}

function isGarbled(error: unknown): boolean {
  return error instanceof SourceError && error.state === 'invalid' && error.passing !== undefined;
}
