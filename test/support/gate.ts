import { createConnection, createServer, type Socket } from 'node:net';
import { listening, type Listening } from './listening.ts';

/** A way to a service that can be shut for a while. */
export interface Gate extends Listening {
  /** From now on nothing passes: connections stay open, new ones too, and no answer comes. */
  silence(): void;
  /** New connections go to another service. */
  lead(service: string): void;
}

export async function gateTo(service: string): Promise<Gate> {
  let { hostname: host, port } = new URL(service);
  let isSilent = false;
  const join = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (!isSilent) to.write(bytes);
    });
    from.on('end', () => {
      if (!isSilent) to.end();
    });
    from.on('error', () => to.destroy()).on('close', () => to.destroy());
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = createConnection({ host, port: Number(port), allowHalfOpen: true });
    join(client, upstream);
    join(upstream, client);
  });
  const gate = await listening(server, host);
  const silence = (): void => {
    isSilent = true;
  };
  const lead = (other: string): void => {
    ({ hostname: host, port } = new URL(other));
  };
  return { ...gate, silence, lead };
}
