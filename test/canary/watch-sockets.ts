import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { watch, type Place } from './watch.ts';

/** Ports at which other our processes serve. */
export const servedPorts = new Set<number>();

/** Looks at all that a server of this process sends, head and body, well-formed or not. */
export function watchServer({ server }: { readonly server: Server }): void {
  server.prependListener('connection', (socket: Socket) => {
    const look = lookAt('HTTP answers', 'of our own server');
    const write = socket.write.bind(socket);
    const end = socket.end.bind(socket);
    socket.write = ((...sent: Parameters<Socket['write']>) => {
      look(sent[0], sent[1]);
      return write(...sent);
    }) as Socket['write'];
    socket.end = ((...sent: Parameters<Socket['write']>) => {
      look(sent[0], sent[1]);
      return end(...sent);
    }) as Socket['end'];
  });
}

/** Looks at all that tests are answered by our servers in other processes. */
export function watchAnswersOfOthers(): void {
  subscribe('net.client.socket', (message) => {
    if (servedPorts.size === 0) return;
    const { socket } = message as { socket: Socket };
    const look = lookAt('HTTP answers of other processes', 'of a server that was started');
    const push = socket.push.bind(socket);
    socket.push = (piece: unknown, encoding?: BufferEncoding) => {
      if (servedPorts.has(socket.remotePort ?? 0)) look(piece, encoding);
      return push(piece, encoding);
    };
  });
}

function lookAt(place: Place, whose: string): (piece: unknown, encoding: unknown) => void {
  let latest = '';
  const look = watch.inPieces({ place, what: () => `${whose}, in what begins with ${latest}` });
  watch.count(place, -1); // Answers are counted, not connections.
  return (piece, encoding) => {
    const bytes = bytesOf(piece, encoding);
    if (bytes === null) return;
    if (bytes.includes('HTTP/1.1 ')) {
      watch.count(place);
      latest = bytes.toString('latin1', 0, 80);
    }
    if (bytes.includes('# TYPE ')) watch.count('metrics');
    look(bytes);
  };
}

function bytesOf(piece: unknown, encoding: unknown): Buffer | null {
  if (typeof piece === 'string')
    return Buffer.from(piece, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return piece instanceof Uint8Array ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : null;
}
