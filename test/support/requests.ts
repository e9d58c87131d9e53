import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Sandbox } from '../../sandbox/sandbox.ts';

const CHANNEL = 'http.server.request.start';

/** Resolves when a sandbox of this process gets its `count`th request from now on; if a method is given, of this method. */
export function requestNumber({ url }: Pick<Sandbox, 'url'>, count: number, wanted?: 'POST'): Promise<void> {
  const { host } = new URL(url);
  return new Promise((resolve) => {
    let left = count;
    const onRequest = (message: unknown): void => {
      const { headers, method } = (message as { request: IncomingMessage }).request;
      if (headers.host !== host || (wanted ?? method) !== method || --left > 0) return;
      unsubscribe(CHANNEL, onRequest);
      resolve();
    };
    subscribe(CHANNEL, onRequest);
  });
}
