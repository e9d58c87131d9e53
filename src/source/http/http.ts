import type { Clock } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';

/** An answer as it came: any status, the body unread. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
}

/** An answer with the circumstances that its reading needs. */
export interface Received extends HttpAnswer {
  readonly where: string;
  readonly receivedAt: Date;
  /** Runs a reader of this answer, now or later, with the token redacted from errors. */
  readonly withRedactedErrors: <T>(read: () => T) => T;
}

export interface HttpRequest {
  /** With the query, without the base URL's own path. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly where: string;
}

export interface SendRequest extends HttpRequest {
  readonly method: 'POST' | 'PUT';
  readonly body: string;
  /** Called just before the request is written, which may be long after the connection was requested. */
  readonly mayGo?: (() => boolean) | undefined;
}

/** The result of a write; `why` is a stable word, or the error code of Node or undici. */
export type SentAnswer =
  | { readonly is: 'unsent'; readonly why: string }
  | { readonly is: 'lost'; readonly why: string }
  | ({ readonly is: 'answered' } & HttpAnswer);

/** Sends single requests to one host: nothing is followed, decompressed, repeated or remembered. */
export interface HttpClient {
  /** @throws {SourceError} too_big, timeout; other errors are those of undici. */
  get(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Sends a write, over a connection of its own; throws on bugs only. */
  send(request: SendRequest, signal: AbortSignal): Promise<SentAnswer>;
  destroy(): Promise<void>;
}

/** The settings under `source`. */
export interface SourceSettings {
  /** May have a path of its own; list paths are appended to it. */
  readonly baseUrl: string;
  readonly token: string;
  /** Requests under way at once, over all kinds. */
  readonly concurrency: number;
  readonly requestsPerSecond: number | null;
  /** Total deadline of one attempt, from connecting to the last byte. */
  readonly timeoutSeconds: number;
  readonly maxAttempts: number;
  readonly maxBodyBytes: number;
  /** Headers that carry the token: the three spellings of §5, the one documented for the endpoint, or these. */
  readonly authHeaders: 'all' | 'documented' | readonly string[];
  readonly proxyUrl: string | null;
}

export interface SourceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 up to 1; spreads the waits between attempts. */
  readonly random?: () => number;
  /** Replaces the HTTP client in tests. */
  readonly openHttp?: (settings: SourceSettings) => HttpClient;
}
