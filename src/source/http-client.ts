import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { readBody } from './read-body.ts';
import type { SourceSettings } from './settings.ts';

export interface HttpRequest {
  /** With the query, without the base URL's own path. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly where: string;
}

/** An answer as it came: any status, the body unread. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
}

/** Sends single GET requests to one host: nothing is followed, decompressed, repeated or remembered. */
export interface HttpClient {
  /** @throws {SourceError} too_big; anything else is what undici threw. */
  get(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  destroy(): Promise<void>;
}

const OWN_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity', // A compressed bomb cannot hide its size, nor a cut its end.
  'cache-control': 'no-cache',
};

export function createHttpClient(settings: SourceSettings): HttpClient {
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const dispatcher = createDispatcher(settings, origin);

  return {
    get: async ({ target, headers, where }, signal) => {
      const answer = await dispatcher.request({
        origin,
        path: prefix + target,
        method: 'GET',
        headers: { ...OWN_HEADERS, ...headers },
        signal,
      });
      const length = answer.headers['content-length'];
      const declared = typeof length === 'string' ? length : undefined;
      const bytes = await readBody(answer.body, { maxBytes: settings.maxBodyBytes, declared, where });
      return { status: answer.statusCode, headers: answer.headers, bytes };
    },
    destroy: () => dispatcher.destroy(),
  };
}

function createDispatcher(settings: SourceSettings, origin: string): Dispatcher {
  const options = {
    connections: settings.concurrency,
    pipelining: 1,
    // The deadline of the attempt covers these; undici's own timers would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: settings.timeoutSeconds * 1000 },
  };
  return settings.proxyUrl === null
    ? new Pool(origin, options)
    : new ProxyAgent({ ...options, uri: settings.proxyUrl });
}
