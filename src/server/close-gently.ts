import type { Socket } from 'node:net';
import * as limits from './limits.ts';

/**
 * Ends a connection whose client may still be sending, so that it can read the answer.
 *
 * A socket that is closed with unread bytes is reset, and a reset may overtake the answer. So the server ends its own side
 * and discards further bytes: for `LINGER_MS` and `LINGER_BYTES` at most, and as long as something arrives.
 */
export function closeGently(socket: Socket): void {
  const until = performance.now() + limits.LINGER_MS;
  let left = limits.LINGER_BYTES;
  const timer = setTimeout(() => socket.destroy(), limits.LINGER_STILL_MS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
  const throwAway = (): void => {
    socket.removeAllListeners('data'); // No more requests are read from it.
    socket.on('data', (some: Buffer) => {
      left -= some.length;
      if (left < 0 || performance.now() > until) socket.destroy();
      else timer.refresh();
    });
  };
  socket.end();
  if (socket.isPaused())
    socket.once('resume', throwAway).resume(); // Node paused the socket itself, so it must be resumed.
  else throwAway();
}
