import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a service that can be shut for a while: connections are cut, and new ones refused. */
export interface Gate extends AsyncDisposable {
  readonly url: string;
  shut(): void;
  open(): Promise<void>;
}

export async function gateTo(service: string): Promise<Gate> {
  const { hostname: host, port: upstreamPort } = new URL(service);
  const sockets = new Set<Socket>();
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = createConnection({ host, port: Number(upstreamPort) });
    join(client, upstream);
    join(upstream, client);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const shut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://${host}:${port}`,
    shut,
    open: () => listen(port),
    [Symbol.asyncDispose]: () => {
      shut();
      return Promise.resolve();
    },
  };
}
