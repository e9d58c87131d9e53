import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { watchRedis, type RedisWatch } from '../canary/watch-redis.ts';
import { findProgram } from './apt.ts';
import { listening } from './listening.ts';

/** The path of redis-server or valkey-server; installs it where that is possible. */
export const findRedis = (): string =>
  findProgram({
    names: ['redis-server', 'valkey-server'],
    package: 'redis-server',
    what: 'a redis-server (6.2 or later)',
  });

/** A Redis of our own that keeps nothing on disk. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it as a crash would: whatever it held is gone. */
  kill9(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Stops it from running without ending it: connections stay, answers do not come. */
  pause(): void;
  resume(): void;
}

export async function startRedis(path: string, options: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bms-redis-'));
  let child: ChildProcess | null = null;
  let watched: RedisWatch | null = null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null) return;
    const exited = once(ending, 'exit');
    ending.kill('SIGCONT'); // A paused one would not hear the other.
    if (signal === 'SIGTERM') await isAnswering(port); // By then it has answered all earlier requests.
    ending.kill(signal);
    await Promise.all([exited, watched?.ended]);
  };
  const start = async (): Promise<void> => {
    if (child !== null) return;
    const settings = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'no',
    ];
    child = spawn(path, [...settings, ...options], { stdio: 'ignore' });
    await answering(port, child);
    watched = await watchRedis(port, passwordIn(options));
  };
  process.once('exit', () => {
    child?.kill('SIGKILL'); // Also where the run is broken off.
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: async () => {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
    kill9: () => end('SIGKILL'),
    start,
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
  };
}

function passwordIn(options: readonly string[]): string | null {
  const at = options.indexOf('--requirepass');
  return at === -1 ? null : (options[at + 1] ?? null);
}

/** Waits until a Redis answers; one that has ended instead is an error. */
async function answering(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (child.exitCode !== null) break;
    if (await isAnswering(port)) return;
    await delay(10);
  }
  child.kill('SIGKILL');
  throw new Error(`redis-server did not start on port ${port}.`);
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'));
    const settle = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.on('data', (data) => {
      settle(/PONG|NOAUTH/.test(data.toString()));
    });
    socket.on('error', () => {
      settle(false);
    });
  });
}

/** Whether anything listens on a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  await using server = await listening(createServer());
  return server.port;
}
