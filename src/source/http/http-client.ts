import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { HttpClient, SourceSettings } from './http.ts';
import { triedOnce } from './network-faults.ts';
import type { TunnelOptions } from './network-faults.ts';
import { receive } from './receive.ts';
import { sendOnce } from './send-once.ts';
import { widest } from './turns.ts';

const OWN_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity', // A compressed bomb cannot hide its size, nor a cut its end.
  'cache-control': 'no-cache',
};

export function createHttpClient(settings: SourceSettings): HttpClient {
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const dispatcher = createDispatcher(settings, origin);
  const { maxBodyBytes: maxBytes, timeoutSeconds } = settings;
  const timeoutMs = timeoutSeconds * 1000;

  return {
    get: ({ target, headers, where }, signal) => {
      const path = prefix + target;
      const request = { origin, path, method: 'GET' as const, headers: { ...OWN_HEADERS, ...headers } };
      return receive(dispatcher, request, { maxBytes, timeoutMs, where, signal });
    },
    send: (request, signal) => {
      const target = prefix + request.target;
      const headers = { ...OWN_HEADERS, 'content-type': 'application/json', ...request.headers };
      return sendOnce({ settings, origin }, { ...request, target, headers }, signal);
    },
    destroy: () => dispatcher.destroy(),
  };
}

function createDispatcher(settings: SourceSettings, origin: string): Dispatcher {
  const options = {
    connections: widest(settings.concurrency),
    pipelining: 1,
    // The deadline of the attempt covers these; undici's own timers would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: settings.timeoutSeconds * 1000 },
  };
  if (settings.proxyUrl === null) return new Pool(origin, options);
  return new ProxyAgent({
    ...options,
    uri: settings.proxyUrl,
    factory: (target, tunnelOptions) => {
      const own = tunnelOptions as TunnelOptions;
      return new Pool(target, { ...own, connect: triedOnce(own.connect) });
    },
  });
}
