import { createConnection, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { findRedis, startRedis, type RedisServer } from './redis-server.ts';
import { untilTestEnds } from './serve.ts';

/** A Redis for one test, to kill, flush and pause; further options as on redis-server's command line. */
export async function freshRedis(...options: readonly string[]): Promise<RedisServer> {
  const server = await startRedis(findRedis(), options);
  onTestFinished(() => server.stop());
  return server;
}

export interface RedisProxy {
  readonly url: string;
  /**
   * From now on nothing passes on the connections that workers wait for jobs on, and they stay open; new ones are whole.
   * Resolves once there was one to hold.
   */
  holdWaiting(): Promise<void>;
  /** The same for connections to come, too. */
  holdWaitingForGood(): void;
}

const WAITING = /bzpopmin/i;

/** A TCP proxy before a Redis that can make connections go silent. */
export async function proxyToRedis({ port }: RedisServer): Promise<RedisProxy> {
  const waiting = new Set<Socket>();
  const held = new Set<Socket>();
  let onWaiting: (() => void) | null = null;
  let isForGood = false;
  const server = createServer((client) => {
    const upstream = createConnection({ host: '127.0.0.1', port });
    const cut = (): void => {
      for (const set of [waiting, held]) set.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut);
    client.on('data', (sent) => {
      if (WAITING.test(sent.toString('latin1'))) {
        waiting.add(client);
        onWaiting?.();
        if (isForGood) held.add(client);
      }
      if (!held.has(client)) upstream.write(sent);
    });
    upstream.on('data', (answer) => {
      if (!held.has(client)) client.write(answer);
    });
  });
  const listens = await untilTestEnds(server);
  const hold = (): void => {
    for (const client of waiting) held.add(client);
  };
  return {
    url: `redis://127.0.0.1:${listens.port}`,
    holdWaiting: () =>
      new Promise((resolve) => {
        onWaiting = () => {
          hold();
          onWaiting = null;
          resolve();
        };
        if (waiting.size > 0) onWaiting();
      }),
    holdWaitingForGood: () => {
      isForGood = true;
      hold();
    },
  };
}
