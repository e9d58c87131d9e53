import { createDeadline } from './deadline.ts';
import { SourceError } from './errors.ts';
import { createExchange, placeOf } from './exchange.ts';
import type { Answered, Question } from './exchange.ts';
import { createGate } from './gate.ts';
import { createPace } from './pace.ts';
import { createRetry } from './retry.ts';
import type { SourceParts, SourceSettings } from './settings.ts';

/** Puts questions to the service: paced, a few at a time, each attempt with its deadline. */
export interface Requester {
  /** Repeats what may pass. @throws {SourceError} */
  ask<T>(question: Question<T>): Promise<Answered<T>>;
  /** @throws {SourceError} */
  askOnce<T>(question: Question<T>): Promise<Answered<T>>;
  readonly counts: { readonly requests: number; readonly retries: number };
  close(): Promise<void>;
}

export function createRequester(settings: SourceSettings, parts: SourceParts): Requester {
  const { clock, random = Math.random } = parts;
  const gate = createGate(settings.concurrency);
  const pace = createPace(settings.requestsPerSecond, clock);
  const retry = createRetry({ maxAttempts: settings.maxAttempts, clock, random, logger: parts.logger });
  const exchange = createExchange(settings, parts);
  const closing = new AbortController();
  const counts = { requests: 0, retries: 0 };

  const attempt = async <T>(
    question: Question<T>,
    number: number,
    signal: AbortSignal,
  ): Promise<Answered<T>> => {
    await gate.enter(signal);
    try {
      await pace(signal);
      counts.requests++;
      if (number > 1) counts.retries++;
      return await exchange.run(question, signal);
    } finally {
      gate.leave();
    }
  };

  return {
    ask: (question) =>
      interruptible(question, closing.signal, (signal) =>
        retry((number) => attempt(question, number, signal), signal),
      ),
    askOnce: (question) => interruptible(question, closing.signal, (signal) => attempt(question, 1, signal)),
    counts,
    close: async () => {
      closing.abort();
      await exchange.destroy();
    },
  };
}

/** Runs under the caller's signal and our own; whatever fails after either has fired was interrupted. */
async function interruptible<T>(
  question: Question<unknown>,
  closing: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const life = createDeadline(null, [question.signal, closing]);
  try {
    return await run(life.signal);
  } catch (error) {
    if (!life.signal.aborted) throw error;
    throw new SourceError('interrupted', `${placeOf(question)}: stopped before it was answered`);
  } finally {
    life.release();
  }
}
