import PQueue from 'p-queue';
import pRetry, { type RetryContext } from 'p-retry';
import { backoffMs } from '../../lib/time/backoff.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import type { SourceParts, SourceSettings } from './http.ts';
import { SourceError } from './errors.ts';

/** Runs when its turn has come: paced, a few at a time. Rejects where the signal fires first. */
type RunInTurn = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Creates the queue that all requests of a source wait in: a few run at once, and at its pace. Each counts as it takes its turn. */
export function createRequestQueue(
  settings: SourceSettings,
  pace: Pace,
  counts: { requests: number },
): RunInTurn {
  const queue = new PQueue({ concurrency: settings.concurrency });

  return (run, signal) => {
    // The queue would reject a running request, too, before that one says whether it was sent: creates could double.
    const waiting = createDeadline(null, [signal]);
    const runNow = async () => {
      waiting.release();
      await pace.waitForTurn(signal);
      counts.requests++;
      return run();
    };
    return queue.add(runNow, { signal: waiting.signal });
  };
}

type Pace = ReturnType<typeof createPace>;

/** Creates the pace at which all requests of a source are sent: evenly spaced, or without a rate at once. */
export function createPace(requestsPerSecond: number | null, clock: Clock) {
  let next = -Infinity;
  return {
    waitForTurn: async (signal: AbortSignal): Promise<void> => {
      const now = clock.monotonicMs();
      const turn = Math.max(now, next);
      next = turn + (requestsPerSecond === null ? 0 : 1000 / requestsPerSecond);
      if (turn > now) await clock.sleep(turn - now, signal);
    },
    /** Sends nothing for so long: a service that asks one request to wait means all of them. */
    pause: (ms: number): void => {
      next = Math.max(next, clock.monotonicMs() + ms);
    },
  };
}

const LONG_WAIT_MS = 2_000; // After a longer silence a person would take the program for stuck.
const BACKOFF = { firstMs: 500, mostMs: 30_000, fixedShare: 0 };
const NO_ANSWER: readonly string[] = ['unreachable', 'timeout', 'interrupted'];

export type RetriedAttempt<T> = (attemptNumber: number) => Promise<T>;

/** What a sweep knows of the service: whether it has answered this sweep, and since when it is away. */
export interface SweepOutage {
  hasAnswered: boolean;
  awaySinceMs: number | null;
}

/** A sweep under way waits this long for a service that is away: a restart of it, or of what lies between, or a limit by the minute. */
const OUTLASTED_MS = 60_000;

/** Nothing of the service answers: no connection, or a gateway in its place; or it answers that it will not yet. */
const isAway = ({ reason, status = 0 }: SourceError): boolean =>
  reason === 'unreachable' || reason === 'rate_limited' || (status >= 502 && status <= 504);

/** Runs an attempt until it succeeds, fails permanently, has used up its attempts, and the sweep does not wait for the service. */
type Retry = <T>(attempt: RetriedAttempt<T>, signal: AbortSignal, sweep?: SweepOutage) => Promise<T>;

/**
 * Creates a `Retry` whose requests share their experience: once all attempts of one have found the service unreachable, each gets
 * a single attempt until any answer arrives, so that ten lists do not wait ten times for a dead host. The same holds while answers
 * stay garbled, until a good one arrives. A sweep under way knows better: the service has just answered it.
 */
export function createRetry(
  maxAttempts: number,
  pace: Pace,
  { clock, logger, random = Math.random }: SourceParts,
): Retry {
  let isDown = false;
  let isAnsweringGarbled = false;
  let announcedUntilMs = -Infinity; // Pages that are read side by side wait together.

  const outlasts = (sweep: SweepOutage | undefined, error: SourceError): boolean => {
    if (sweep === undefined || !sweep.hasAnswered || !isAway(error)) return false;
    sweep.awaySinceMs ??= clock.monotonicMs();
    return clock.monotonicMs() - sweep.awaySinceMs < OUTLASTED_MS;
  };

  /** Decides whether to repeat an attempt, and waits before. */
  const waitToRetry = async (
    { error, attemptNumber }: RetryContext,
    signal: AbortSignal,
    sweep?: SweepOutage,
  ): Promise<boolean> => {
    if (!(error instanceof SourceError)) return false;
    if (!NO_ANSWER.includes(error.reason)) isDown = false;
    if (error.passing === undefined) return false;
    const isHopeless = isDown || (isAnsweringGarbled && isGarbled(error));
    if (!outlasts(sweep, error) && (attemptNumber >= maxAttempts || isHopeless)) return false;
    const waitMs = error.passing.waitMs ?? backoffMs(BACKOFF, attemptNumber, random);
    announce(error.message, waitMs);
    pace.pause(error.passing.waitMs ?? 0);
    await clock.sleep(waitMs, signal);
    return true;
  };

  const announce = (fault: string, waitMs: number): void => {
    const nowMs = clock.monotonicMs();
    if (waitMs < LONG_WAIT_MS || nowMs < announcedUntilMs) return;
    announcedUntilMs = nowMs + waitMs;
    logger.warn({ fault, waitMs: Math.round(waitMs) }, 'waiting to ask again');
  };

  return async (attempt, signal, sweep) => {
    try {
      const result = await pRetry(attempt, {
        signal,
        retries: Infinity, // `waitToRetry` counts.
        minTimeout: 0, // Its own waits sleep on real timers, and only add to a Retry-After.
        shouldRetry: (context) => waitToRetry(context, signal, sweep),
      });
      isDown = false;
      isAnsweringGarbled = false;
      if (sweep !== undefined) Object.assign(sweep, { hasAnswered: true, awaySinceMs: null });
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
