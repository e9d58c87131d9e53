import { createConnection, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { openPostgresSession, type PostgresOptions } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { untilTestEnds } from '../support/serve.ts';

/** Opens a database until the test ends. */
export async function openForTest(url: string, options?: PostgresOptions): Promise<Session> {
  const session = await openPostgresSession(url, options);
  onTestFinished(() => session.close());
  return session;
}

/** Where to cut the connection: the COMMIT is not passed on, is passed on and no more, or is done but not answered. */
export type Cut = 'before COMMIT' | 'after COMMIT' | 'at the answer';

export interface Proxy {
  readonly url: string;
  /** Cuts the connection that sends the next COMMIT; with `forGood`, no other is taken after it. */
  cutAtCommit(cut: Cut, forGood?: 'forGood'): void;
  /** Cuts so many connections that the server has let in, before they did anything. */
  cutOpenings(count: number): void;
  /** Ends all connections and refuses new ones. */
  stop(): PromiseLike<void>;
}

const COMMIT = Buffer.from('commit\0');
const OPENING = Buffer.from('show server_version_num');

/** A TCP proxy before the server that can cut a connection at its COMMIT. */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url);
  let next: Cut | null = null;
  let closesAfter = false;
  let openings = 0;
  const server = createServer((client) => {
    const upstream = createConnection({ host: target.hostname, port: Number(target.port) });
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut);
    let cutsAnswer = false;
    client.on('data', (sent) => {
      if (openings > 0 && sent.includes(OPENING)) {
        openings--;
        cut();
        return;
      }
      const here = sent.includes(COMMIT) ? next : null;
      if (here !== null) next = null;
      if (here !== null && closesAfter) server.close();
      if (here === 'before COMMIT') {
        cut();
        return;
      }
      if (here === 'after COMMIT') {
        upstream.write(sent, () => {
          cut();
        });
        return;
      }
      cutsAnswer ||= here === 'at the answer';
      upstream.write(sent);
    });
    upstream.on('data', (answer) => {
      if (cutsAnswer) cut();
      else client.write(answer);
    });
  });
  const listens = await untilTestEnds(server);
  const through = new URL(url);
  through.port = String(listens.port);
  return {
    url: through.href,
    cutAtCommit: (cut, forGood) => {
      next = cut;
      closesAfter = forGood !== undefined;
    },
    cutOpenings: (count) => {
      openings = count;
    },
    stop: () => listens[Symbol.asyncDispose](),
  };
}
