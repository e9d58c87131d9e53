import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { AuthHeader } from '../../catalog/kind.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { SourceError, redactErrors } from './errors.ts';
import type { HttpClient, Received, SourceParts, SourceSettings } from './http.ts';
import { createHttpClient } from './http-client.ts';
import { networkFault } from './network-faults.ts';
import { createTurns, createRetry } from './turns.ts';
import type { TakeTurn, RetriedWork } from './turns.ts';

export interface Question<T> {
  readonly path: string;
  /** Empty, or with its question mark. */
  readonly query: string;
  readonly page: number | null;
  readonly header: AuthHeader;
  /** Headers for the token, where they are not those of the settings. */
  readonly tokenUnder?: readonly string[];
  /** Interprets the answer; if it throws, the request may be repeated. */
  readonly read: (answer: Received) => T | Promise<T>;
  readonly tick?: () => number;
  /** Fires when the source is closed, too; without one, only then. */
  readonly signal?: AbortSignal | undefined;
}

export interface Answered<T> {
  readonly value: T;
  /** Ticks of the kind's counter; 0 without a counter. */
  readonly sent: number;
  readonly answered: number;
}

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
  readonly concurrency: number;
  readonly counts: { readonly requests: number; readonly retries: number };
  close(): Promise<void>;
}

/** The subject of messages, and the signal that aborts the work. */
type Interruptible = Pick<Question<unknown>, 'path' | 'page' | 'signal'>;

/** The signal fires with the caller's, or when the source is closed. */
type RunInTurn<T> = (client: HttpClient, signal: AbortSignal) => Promise<T>;

export function createRequester(settings: SourceSettings, parts: SourceParts): Requester {
  const { clock, logger, random = Math.random, openHttp = createHttpClient } = parts;
  const client = openHttp(settings);
  const counts = { requests: 0, retries: 0 };
  const inTurn = createTurns(settings, { clock, counts });
  const retry = createRetry({ maxAttempts: settings.maxAttempts, clock, random, logger });
  const attempt = createAttempt(createFetch(settings, parts, client), { inTurn, counts });
  const closing = new AbortController();
  const { signal: closed } = closing;

  return {
    ask: (question) =>
      interruptible(question, closed, (signal) =>
        retry((number) => attempt(question, number, signal), signal),
      ),
    askOnce: (question, number = 1) =>
      interruptible(question, closed, (signal) => attempt(question, number, signal)),
    repeat: (about, run) => interruptible(about, closed, (signal) => retry(run, signal)),
    closing: closed,
    inTurn: (run, signal) =>
      unlessInterrupted([signal, closed], (scope, begin) =>
        inTurn(() => {
          begin();
          return run(client, scope);
        }, scope),
      ),
    maxAttempts: settings.maxAttempts,
    concurrency: settings.concurrency,
    counts,
    close: async () => {
      closing.abort();
      await client.destroy();
    },
  };
}

type Attempt = <T>(question: Question<T>, number: number, signal: AbortSignal) => Promise<Answered<T>>;

interface AttemptParts {
  readonly inTurn: TakeTurn;
  readonly counts: { retries: number };
}

/** One attempt: it waits its turn, and its answer is read. */
function createAttempt(fetch: Fetch, { inTurn, counts }: AttemptParts): Attempt {
  return async (question, number, signal) => {
    const { value: answer, ...ticks } = await inTurn(() => {
      if (number > 1) counts.retries++;
      return fetch(question, signal);
    }, signal);
    await yieldToEventLoop(); // The next request goes out first: the service works on it while this answer is read.
    return { value: await answer.withRedactedErrors(() => question.read(answer)), ...ticks };
  };
}

type Fetch = (question: Question<unknown>, signal: AbortSignal) => Promise<Answered<Received>>;

/** Out and back, with a line in the log. */
function createFetch(settings: SourceSettings, { clock, logger }: SourceParts, client: HttpClient): Fetch {
  return async (question, signal) => {
    const { path, page, tick = () => 0 } = question;
    const where = placeOf(question);
    const started = clock.monotonicMs();
    const log = (status: number | null, bytes: number): void => {
      const ms = Math.round(clock.monotonicMs() - started);
      logger.debug({ method: 'GET', path, page, status, ms, bytes }, 'source request');
    };
    try {
      const sent = tick();
      const target = path + question.query;
      const answer = await client.get({ target, headers: tokenHeaders(settings, question), where }, signal);
      const answered = tick();
      log(answer.status, answer.bytes.length);
      const withRedactedErrors = redactErrors({ status: answer.status, where }, settings.token);
      return { value: { ...answer, where, receivedAt: clock.now(), withRedactedErrors }, sent, answered };
    } catch (error) {
      if (!(error instanceof SourceError)) log(null, 0);
      throw networkFault(error, where);
    }
  };
}

/** How messages name a request: `GET /api/clients page 3`, never with its query. */
function placeOf({ path, page }: Pick<Question<unknown>, 'path' | 'page'>): string {
  return page === null ? `GET ${path}` : `GET ${path} page ${page}`;
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

/** The spellings of §5: the documentation uses all three and does not say which one counts. */
const SPELLINGS: readonly AuthHeader[] = ['Authentication', 'Authorization', 'Authentification'];

interface TokenPlace {
  /** The header that the documentation names for the endpoint. */
  readonly header: AuthHeader;
  /** Headers for the token, where they are not those of the settings. */
  readonly tokenUnder?: readonly string[];
}

/** The headers that carry the token of one request. */
export function tokenHeaders(
  { token, authHeaders }: SourceSettings,
  { header, tokenUnder }: TokenPlace,
): Record<string, string> {
  const bySetting = authHeaders === 'all' ? SPELLINGS : authHeaders === 'documented' ? [header] : authHeaders;
  return Object.fromEntries((tokenUnder ?? bySetting).map((name) => [name, `Bearer ${token}`]));
}
