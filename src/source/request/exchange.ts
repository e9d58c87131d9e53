import type { AuthHeader } from '../../catalog/kind.ts';
import { authHeaderNames } from '../http/auth-headers.ts';
import { SourceError } from '../http/errors.ts';
import { hideToken } from '../http/hide-token.ts';
import { createHttpClient } from '../http/http-client.ts';
import type { HttpClient } from '../http/http.ts';
import { networkFault } from '../http/network-faults.ts';
import type { Received } from '../answer/read-answer.ts';
import type { SourceParts, SourceSettings } from '../http/settings.ts';

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

/** Sends one request once, and interprets its answer. */
interface Exchange {
  fetch(question: Question<unknown>, signal: AbortSignal): Promise<Answered<Received>>;
  /** @throws {SourceError} If the answer has not the requested form. */
  read<T>(question: Question<T>, arrived: Answered<Received>): Promise<Answered<T>>;
  readonly client: HttpClient;
  destroy(): Promise<void>;
}

/** One attempt within the deadline, with a line in the log. */
export function createExchange(settings: SourceSettings, parts: SourceParts): Exchange {
  const { clock, logger, openHttp = createHttpClient } = parts;
  const client = openHttp(settings);

  const fetch = async (question: Question<unknown>, signal: AbortSignal): Promise<Answered<Received>> => {
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
      const withRedactedErrors = hideToken({ status: answer.status, where }, settings.token);
      return { value: { ...answer, where, receivedAt: clock.now(), withRedactedErrors }, sent, answered };
    } catch (error) {
      if (!(error instanceof SourceError)) log(null, 0);
      throw networkFault(error, where);
    }
  };
  const read = async <T>(question: Question<T>, arrived: Answered<Received>): Promise<Answered<T>> => {
    const { value: answer, ...ticks } = arrived;
    return { value: await answer.withRedactedErrors(() => question.read(answer)), ...ticks };
  };
  return { fetch, read, client, destroy: () => client.destroy() };
}

/** The headers that carry the token of one request. */
export function tokenHeaders(
  settings: SourceSettings,
  question: Pick<Question<unknown>, 'header' | 'tokenUnder'>,
): Record<string, string> {
  const names = question.tokenUnder ?? authHeaderNames(settings.authHeaders, question.header);
  return Object.fromEntries(names.map((name) => [name, `Bearer ${settings.token}`]));
}

/** How messages name a request: `GET /api/clients page 3`, never with its query. */
export function placeOf({ path, page }: Pick<Question<unknown>, 'path' | 'page'>): string {
  return page === null ? `GET ${path}` : `GET ${path} page ${page}`;
}
