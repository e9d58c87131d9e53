import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server of any protocol that listens on this machine, until it is disposed of. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Cuts all connections, and refuses new ones. */
  shut(): void;
  /** Listens again, on the same port. */
  open(): Promise<void>;
}

export async function listening(server: Server, host = '127.0.0.1'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, host);
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const shut = (onClosed?: () => void): void => {
    server.close(onClosed);
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: `http://${host}:${port}`,
    shut,
    open: () => listen(port),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        shut(resolve);
      }),
  };
}
