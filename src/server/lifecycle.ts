import { setMaxListeners } from 'node:events';
import type { Clock } from '../lib/clock.ts';
import { CLOSE_MS } from './limits.ts';
import type { Server } from './server.ts';

/**
 * Bounds the time that closing takes: waiting requests are answered at once, slow ones have a few seconds.
 *
 * @returns A signal that fires once the server closes.
 */
export function endWaiting(app: Server, clock: Pick<Clock, 'sleep'>): AbortSignal {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // One for each request that waits.
  const closed = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    void cutOff(app, clock, closed.signal);
    done();
  });
  app.addHook('onSend', (_request, reply) => {
    if (closing.signal.aborted) void reply.header('connection', 'close'); // An idle connection would delay the close.
    return Promise.resolve();
  });
  app.addHook('onClose', (_app, done) => {
    closed.abort();
    done();
  });
  return closing.signal;
}

async function cutOff(app: Server, clock: Pick<Clock, 'sleep'>, closed: AbortSignal): Promise<void> {
  try {
    await clock.sleep(CLOSE_MS, closed);
  } catch (error) {
    if (closed.aborted) return;
    throw error;
  }
  app.server.closeAllConnections();
}
