import { setMaxListeners } from 'node:events';
import type { Clock } from '../lib/clock.ts';
import { CLOSE_MS } from './limits.ts';
import type { Server } from './server.ts';

/**
 * Lets nobody keep the server from closing: who waits is answered at once, who is slow has a few seconds.
 *
 * @returns What fires once the server closes.
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
    if (closing.signal.aborted) void reply.header('connection', 'close'); // Idle, it would be waited for.
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
