import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Sandbox } from '../../sandbox/sandbox.ts';

const CHANNEL = 'http.server.request.start';

/** Resolves when a sandbox of this process gets its `count`th request from now on. */
export function requestNumber({ url }: Pick<Sandbox, 'url'>, count: number): Promise<void> {
  const { host } = new URL(url);
  return new Promise((resolve) => {
    let left = count;
    const onRequest = (message: unknown): void => {
      if ((message as { request: IncomingMessage }).request.headers.host !== host || --left > 0) return;
      unsubscribe(CHANNEL, onRequest);
      resolve();
    };
    subscribe(CHANNEL, onRequest);
  });
}
