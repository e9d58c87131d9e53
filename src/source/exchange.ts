import type { AuthHeader } from '../catalog/kind.ts';
import { secretForms } from '../lib/secret-forms.ts';
import { authHeaderNames } from './auth-headers.ts';
import { createDeadline } from './deadline.ts';
import { SourceError } from './errors.ts';
import { createHttpClient } from './http-client.ts';
import { networkFault } from './network-faults.ts';
import type { Received } from './read-answer.ts';
import type { SourceParts, SourceSettings } from './settings.ts';

export interface Question<T> {
  readonly path: string;
  /** Empty, or with its question mark. */
  readonly query: string;
  readonly page: number | null;
  readonly header: AuthHeader;
  /** Headers for the token, where they are not those of the settings. */
  readonly tokenUnder?: readonly string[];
  /** Makes sense of the answer. */
  readonly read: (answer: Received) => T;
  readonly tick?: () => number;
  readonly signal?: AbortSignal | undefined;
}

export interface Answered<T> {
  readonly value: T;
  /** Ticks of the kind's counter; 0 where nobody counts. */
  readonly sent: number;
  readonly answered: number;
}

/** Puts one question once. */
export interface Exchange {
  run<T>(question: Question<T>, signal: AbortSignal): Promise<Answered<T>>;
  destroy(): Promise<void>;
}

/** One attempt: out and back within the deadline, with a line in the log. */
export function createExchange(settings: SourceSettings, { clock, logger }: SourceParts): Exchange {
  const client = createHttpClient(settings);

  const run = async <T>(question: Question<T>, signal: AbortSignal): Promise<Answered<T>> => {
    const { path, page, tick = () => 0 } = question;
    const where = placeOf(question);
    const started = clock.monotonicMs();
    const log = (status: number | null, bytes: number): void => {
      const ms = Math.round(clock.monotonicMs() - started);
      logger.debug({ method: 'GET', path, page, status, ms, bytes }, 'source request');
    };
    const deadline = createDeadline(settings.timeoutSeconds * 1000, [signal]);
    try {
      const sent = tick();
      const target = path + question.query;
      const answer = await client.get(
        { target, headers: tokenHeaders(settings, question), where },
        deadline.signal,
      );
      const answered = tick();
      log(answer.status, answer.bytes.length);
      const received = { ...answer, where, receivedAt: clock.now() };
      return { value: readUnseen(question, received, settings.token), sent, answered };
    } catch (error) {
      if (!(error instanceof SourceError)) log(null, 0);
      throw deadline.isOver() ? timedOut(where, settings.timeoutSeconds) : networkFault(error, where);
    } finally {
      deadline.release();
    }
  };
  return { run, destroy: () => client.destroy() };
}

function tokenHeaders(settings: SourceSettings, question: Question<unknown>): Record<string, string> {
  const names = question.tokenUnder ?? authHeaderNames(settings.authHeaders, question.header);
  return Object.fromEntries(names.map((name) => [name, `Bearer ${settings.token}`]));
}

/** Reads an answer; an error that would quote a body with the token in it quotes nothing. */
function readUnseen<T>({ read }: Question<T>, received: Received, token: string): T {
  try {
    return read(received);
  } catch (error) {
    const body = Buffer.from(received.bytes);
    const isSafe = !(error instanceof SourceError) || !secretForms(token).some((form) => body.includes(form));
    if (isSafe) throw error;
    const message = `${received.where}: got an answer that repeats the token (status ${received.status})`;
    throw new SourceError(error.reason, message, error.passing && { passing: error.passing });
  }
}

function timedOut(where: string, seconds: number): SourceError {
  return new SourceError('timeout', `${where}: got no whole answer within ${seconds} s`, {
    passing: { waitMs: null },
  });
}

/** How messages name a request: `GET /api/clients page 3`, never with its query. */
export function placeOf({ path, page }: Pick<Question<unknown>, 'path' | 'page'>): string {
  return page === null ? `GET ${path}` : `GET ${path} page ${page}`;
}
