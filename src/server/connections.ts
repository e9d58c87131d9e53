import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import * as limits from './limits.ts';
import type { Server } from './server.ts';

/** What a connection is at. */
interface Standing {
  /** Requests that came on it and whose answers have not left. */
  open: number;
  hasAsked: boolean;
}

/**
 * Keeps anybody from taking all connections, or all memory by answers that nobody reads.
 *
 * Where all connections are taken, a new one gets the place of one that has nothing in hand: health is asked for on a new
 * one each time, and must be answered whoever else is silent.
 */
export function limitConnections(app: Server): void {
  const standings = new Map<Socket, Standing>(); // The oldest come first.
  app.server.on('connection', (socket) => {
    if (standings.size >= limits.CONNECTIONS && !makeRoom(standings)) {
      socket.destroy();
      return;
    }
    standings.set(socket, { open: 0, hasAsked: false });
    socket.once('close', () => standings.delete(socket));
  });
  admitBy(app, ({ socket }, answer) => {
    const standing = standings.get(socket);
    if (standing === undefined) return false;
    standing.hasAsked = true;
    standing.open++;
    answer.once('close', () => standing.open--);
    if (standing.open <= limits.PIPELINED) return true;
    socket.destroy(); // Each answer waits in memory for those before it.
    return false;
  });
  app.server.on('timeout', (socket: Socket) => {
    // A quiet stream has nothing to write, and one request in hand.
    if (socket.writableLength > 0 || standings.get(socket)?.open === 0) socket.destroy();
  });
}

type Handle = (request: IncomingMessage, answer: ServerResponse) => void;

/** Has requests handled that are admitted; others are not even looked at, and hundreds may follow in the same packet. */
function admitBy(app: Server, isAdmitted: (...args: Parameters<Handle>) => boolean): void {
  const handlers = app.server.listeners('request') as Handle[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    if (isAdmitted(request, answer)) for (const handle of handlers) handle(request, answer);
  });
}

/** Closes who has never asked, or else who has been answered, the oldest first; false where all are being answered. */
function makeRoom(standings: ReadonlyMap<Socket, Standing>): boolean {
  const idle = [...standings].filter(([, { open }]) => open === 0);
  const [socket] = idle.find(([, { hasAsked }]) => !hasAsked) ?? idle[0] ?? [];
  socket?.destroy();
  return socket !== undefined;
}
