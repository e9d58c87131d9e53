import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listening } from './listening.ts';
import type { Listening } from './listening.ts';

/** A way to a service that can be shut for a while. */
export type Gate = Listening;

export function gateTo(service: string): Promise<Gate> {
  const { hostname: host, port } = new URL(service);
  const join = (from: Socket, to: Socket): void => {
    from.pipe(to);
    from.on('error', () => to.destroy()).on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    const upstream = createConnection({ host, port: Number(port) });
    join(client, upstream);
    join(upstream, client);
  });
  return listening(server, host);
}
