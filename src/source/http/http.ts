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
  /** Asked when the request is about to be written, which a connection may take long to be made for. */
  readonly mayGo?: (() => boolean) | undefined;
}

/** What became of a request; `why` is a stable word, or the code that Node or undici gives the fault. */
export type SentAnswer =
  | { readonly is: 'unsent'; readonly why: string }
  | { readonly is: 'lost'; readonly why: string }
  | ({ readonly is: 'answered' } & HttpAnswer);

/** Sends single requests to one host: nothing is followed, decompressed, repeated or remembered. */
export interface HttpClient {
  /** @throws {SourceError} too_big, timeout; anything else is what undici threw. */
  get(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Sends a write, over a connection of its own; throws on bugs only. */
  send(request: SendRequest, signal: AbortSignal): Promise<SentAnswer>;
  destroy(): Promise<void>;
}
