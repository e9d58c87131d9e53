import type { HttpAnswer } from './receive.ts';

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
