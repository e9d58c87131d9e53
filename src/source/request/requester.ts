import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createDeadline } from '../http/deadline.ts';
import { SourceError } from '../http/errors.ts';
import { createExchange, placeOf } from './exchange.ts';
import type { Answered, Question } from './exchange.ts';
import type { HttpClient } from '../http/http.ts';
import { createRetry } from './retry.ts';
import type { RetriedWork } from './retry.ts';
import type { SourceParts, SourceSettings } from '../http/settings.ts';
import { createTurns } from './turns.ts';
import { createWidth } from '../http/width.ts';
import type { Width } from '../http/width.ts';

/**
 * Sends requests to the service: rate-limited, a few at a time, each attempt with its deadline.
 *
 * The signal of a request must fire with `closing`; a caller with many requests joins the two once for all of them.
 */
export interface Requester {
  /** Fires when the source is closed. */
  readonly closing: AbortSignal;
  /** Retries transient faults. @throws {SourceError} */
  ask<T>(question: Question<T>): Promise<Answered<T>>;
  /** @throws {SourceError} */
  askOnce<T>(question: Question<T>, attemptNumber?: number): Promise<Answered<T>>;
  /** Runs an attempt with a single request, and repeats it after a transient fault. @throws {SourceError} */
  repeat<T>(about: Interruptible, attempt: RetriedWork<T>): Promise<T>;
  readonly maxAttempts: number;
  /** Runs a function that sends one request; null if a signal fires before its turn. */
  inTurn<T>(run: RunInTurn<T>, signal: AbortSignal | undefined): Promise<T | null>;
  /** How many requests may be under way at once. */
  readonly width: Pick<Width, 'now' | 'widen'>;
  readonly counts: { readonly requests: number; readonly retries: number };
  close(): Promise<void>;
}

/** The subject of messages, and the signal that aborts the work. */
type Interruptible = Pick<Question<unknown>, 'path' | 'page' | 'signal'>;

/** The signal fires with the caller's, or when the source is closed. */
type RunInTurn<T> = (client: HttpClient, signal: AbortSignal) => Promise<T>;

export function createRequester(settings: SourceSettings, parts: SourceParts): Requester {
  const { clock, random = Math.random } = parts;
  const width = createWidth(settings.concurrency, clock);
  const { inTurn, counts } = createCountedTurns(settings, { clock, width });
  const retry = createRetry({ maxAttempts: settings.maxAttempts, clock, random, logger: parts.logger });
  const exchange = createExchange(settings, parts);
  const closing = new AbortController();

  const attempt = async <T>(question: Question<T>, number: number, signal: AbortSignal) => {
    const arrived = await inTurn(() => {
      if (number > 1) counts.retries++;
      return exchange.fetch(question, signal);
    }, signal);
    width.note(arrived.value.status);
    await yieldToEventLoop(); // The next request goes out first: the service works on it while this answer is read.
    return exchange.read(question, arrived);
  };

  return {
    ask: (question) =>
      interruptible(question, closing.signal, (signal) =>
        retry((number) => attempt(question, number, signal), signal),
      ),
    askOnce: (question, number = 1) =>
      interruptible(question, closing.signal, (signal) => attempt(question, number, signal)),
    repeat: (about, run) => interruptible(about, closing.signal, (signal) => retry(run, signal)),
    maxAttempts: settings.maxAttempts,
    closing: closing.signal,
    inTurn: (run, signal) =>
      unlessInterrupted([signal, closing.signal], (scope, begin) =>
        inTurn(() => {
          begin();
          return run(exchange.client, scope);
        }, scope),
      ),
    ...{ counts, width },
    close: async () => {
      closing.abort();
      await exchange.destroy();
    },
  };
}

/** Counts each request as it takes its turn. */
function createCountedTurns(settings: SourceSettings, parts: Parameters<typeof createTurns>[1]) {
  const takeTurn = createTurns(settings, parts);
  const counts = { requests: 0, retries: 0 };
  const inTurn = <T>(send: () => Promise<T>, signal: AbortSignal) =>
    takeTurn(() => {
      counts.requests++;
      return send();
    }, signal);
  return { inTurn, counts };
}

/** Runs under the request's signal; any failure after it has fired counts as interrupted. */
async function interruptible<T>(
  question: Interruptible,
  closing: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal = closing } = question;
  try {
    return await run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new SourceError('interrupted', `${placeOf(question)}: stopped before it was answered`);
  }
}

/** Runs under these signals; null where one of them fires before it has begun. */
async function unlessInterrupted<T>(
  signals: readonly (AbortSignal | undefined)[],
  run: (signal: AbortSignal, begin: () => void) => Promise<T>,
): Promise<T | null> {
  const scope = createDeadline(null, signals);
  const turn = { hasCome: false };
  try {
    return await run(scope.signal, () => {
      turn.hasCome = true;
    });
  } catch (error) {
    if (turn.hasCome || !scope.signal.aborted) throw error;
    return null;
  } finally {
    scope.release();
  }
}
