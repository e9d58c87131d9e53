import { AUTH_HEADERS, type AuthHeader } from '../../catalog/kind.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { SourceError, redactErrors } from './errors.ts';
import type { HttpClient, ReceivedAnswer, SourceParts, SourceSettings } from './http.ts';
import { createHttpClient } from './http-client.ts';
import { holderOf } from './token-holder.ts';
import { toSourceError } from './network-faults.ts';
import {
  createPace,
  createRequestQueue,
  createRetry,
  type RetriedAttempt,
  type SweepOutage,
} from './request-queue.ts';

export interface ReadRequest<T> {
  /** The name of the kind that it counts for. */
  readonly kind: string;
  readonly path: string;
  /** Empty, or with its question mark. */
  readonly query: string;
  readonly page: number | null;
  readonly header: AuthHeader;
  /** Headers for the token, where they are not those of the settings. */
  readonly tokenHeaderNames?: readonly string[];
  /** Interprets the answer; if it throws, the request may be repeated. */
  readonly read: (answer: ReceivedAnswer) => T | Promise<T>;
  readonly tick?: (() => number) | undefined;
  /** Fires when the source is closed, too; without one, only then. */
  readonly signal?: AbortSignal | undefined;
}

export interface AnswerWithTicks<T> {
  readonly value: T;
  /** Ticks of the kind's counter; 0 without a counter. */
  readonly sent: number;
  readonly answered: number;
}

export type Requester = ReturnType<typeof createRequester>;

/** How many records lists are asked for on a page. */
export interface PageSizes {
  /** By the settings. */
  readonly wanted: number;
  /** The size in which each kind's list has answered last. */
  readonly answered: Map<string, number>;
}

/** The subject of messages, and the signal that aborts the work. */
type Interruptible = Pick<ReadRequest<unknown>, 'path' | 'page' | 'signal'>;

/**
 * Sends requests to the service: rate-limited, a few at a time, each attempt with its deadline. The signal of a request must fire
 * with `closing`; a caller with many requests joins the two once for all of them.
 */
export function createRequester(settings: SourceSettings, parts: SourceParts) {
  const { openHttp = createHttpClient } = parts;
  const client = openHttp(settings);
  const counts = { requests: 0, retries: 0 };
  const countsOfKinds: Record<string, typeof counts> = {};
  const pace = createPace(settings.requestsPerSecond, parts.clock);
  const runInTurn = createRequestQueue(settings, pace, counts);
  const retry = createRetry(settings.maxAttempts, pace, parts);
  const closing = new AbortController();
  const { signal: closed } = closing;

  /** One attempt: it waits its turn, and its answer is read. */
  const attempt = async <T>(request: ReadRequest<T>, number: number, signal: AbortSignal) => {
    const { value: answer, ...ticks } = await runInTurn(() => {
      const ofKind = (countsOfKinds[request.kind] ??= { requests: 0, retries: 0 });
      ofKind.requests++;
      if (number > 1) for (const each of [counts, ofKind]) each.retries++;
      return fetchAnswer(settings, parts, client, { ...request, signal });
    }, signal);
    await ownEventLoopTurn(); // The next request goes out first: the service works on it while this answer is read.
    return { value: await answer.withRedactedErrors(() => request.read(answer)), ...ticks };
  };

  return {
    /** @throws {SourceError} */
    requestOnce: <T>(request: ReadRequest<T>, number = 1): Promise<AnswerWithTicks<T>> =>
      runInterruptible(request, closed, (signal) => attempt(request, number, signal)),
    /** Runs an attempt with a single request, and repeats it after a transient fault. @throws {SourceError} */
    repeat: <T>(about: Interruptible, run: RetriedAttempt<T>, sweep?: SweepOutage): Promise<T> =>
      runInterruptible(about, closed, (signal) => retry(run, signal, sweep)),
    /** Fires when the source is closed. */
    closing: closed,
    /** Runs a function that sends one request; null if a signal fires before its turn. */
    runInTurn: async <T>(
      run: (client: HttpClient, signal: AbortSignal) => Promise<T>,
      signal: AbortSignal | undefined,
    ): Promise<T | null> => {
      const scope = createDeadline(null, [signal, closed]);
      const turn = { hasStarted: false };
      try {
        return await runInTurn(() => {
          turn.hasStarted = true;
          return run(client, scope.signal);
        }, scope.signal);
      } catch (error) {
        if (turn.hasStarted || !scope.signal.aborted) throw error;
        return null;
      } finally {
        scope.release();
      }
    },
    maxAttempts: settings.maxAttempts,
    pageSizes: { wanted: settings.pageSize, answered: new Map<string, number>() },
    /** How many requests may be under way at once. */
    concurrency: settings.concurrency,
    counts,
    countsOfKinds,
    close: async () => {
      closing.abort();
      await client.destroy();
    },
  };
}

export const UNAUTHORIZED = 401;

/** Sends a request, waits for its answer, and logs both as one line. */
async function fetchAnswer(
  settings: SourceSettings,
  parts: SourceParts,
  client: HttpClient,
  request: ReadRequest<unknown> & { readonly signal: AbortSignal },
): Promise<AnswerWithTicks<ReceivedAnswer>> {
  const { clock } = parts;
  const { path, query, page, tick = () => 0, signal } = request;
  const where = requestLabel(request);
  const started = clock.monotonicMs();
  const log = (status: number | null, bytes: number): void => {
    const ms = Math.round(clock.monotonicMs() - started);
    parts.logger.debug({ method: 'GET', path, page, status, ms, bytes }, 'source request');
  };
  const sent = tick();
  const { token } = settings;
  const headers = { ...tokenHeaders(settings, request), 'cache-control': 'no-cache' };
  const answer = await client
    .get({ target: path + query, headers, where }, signal)
    .catch((error: unknown) => {
      if (!(error instanceof SourceError)) log(null, 0);
      throw toSourceError(error, where);
    });
  const answered = tick();
  log(answer.status, answer.bytes.length);
  if (answer.status === UNAUTHORIZED && settings.renewToken?.(token) === true)
    return fetchAnswer(settings, parts, client, request);
  const withRedactedErrors = redactErrors(where, answer.status, token);
  return {
    value: { ...answer, where, receivedAt: clock.now(), holder: holderOf(token), withRedactedErrors },
    sent,
    answered,
  };
}

/** How messages name a request: `GET /api/clients page 3`, never with its query. */
function requestLabel({ path, page }: Interruptible): string {
  return page === null ? `GET ${path}` : `GET ${path} page ${page}`;
}

/** Runs under the request's signal; any failure after it has fired counts as interrupted. */
async function runInterruptible<T>(
  request: Interruptible,
  closing: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal = closing } = request;
  try {
    return await run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new SourceError('interrupted', `${requestLabel(request)}: stopped before it was answered`);
  }
}

/** The headers that carry the token of one request. */
export function tokenHeaders(
  { token, authHeaders }: SourceSettings,
  request: Pick<ReadRequest<unknown>, 'header' | 'tokenHeaderNames'>,
): Record<string, string> {
  const bySetting =
    authHeaders === 'all' ? AUTH_HEADERS : authHeaders === 'documented' ? [request.header] : authHeaders;
  return Object.fromEntries((request.tokenHeaderNames ?? bySetting).map((name) => [name, `Bearer ${token}`]));
}
