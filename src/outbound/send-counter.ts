import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Session } from '../db/session/session.ts';
import { readCountedPlace, type OpenSendCounter } from './freeze.ts';

/** Opens the mark that every send leaves outside the database: in a file beside it, or in Redis if the queue is there. */
export async function openSendCounter(session: Session, queueUrl: string | null): Promise<OpenSendCounter> {
  if (session.dialect === 'sqlite') return createFileCounter(`${session.location}.sends`);
  if (queueUrl !== null) return createRedisCounter(queueUrl, await readCountedPlace(session));
  return { read: () => Promise.resolve(0), write: () => Promise.resolve(), close: () => undefined };
}

const DIGITS = 16;
const OWNER_ONLY = 0o600;

/**
 * Opens a mark in a file beside the database: a back-up of the database rarely includes that file.
 *
 * The number is overwritten in place, at a fixed length and well within a sector, so that it is never half written.
 */
export function createFileCounter(path: string): OpenSendCounter {
  const file = openSync(path, 'a+', OWNER_ONLY);
  closeSync(file);
  const handle = openSync(path, 'r+');
  let latest = readNumber(path);
  return {
    read: () => Promise.resolve(Math.max(latest, readNumber(path))),
    write: (sends) => {
      if (sends > latest) {
        latest = sends;
        writeSync(handle, `${String(sends).padStart(DIGITS)}\n`, 0);
      }
      return Promise.resolve();
    },
    close: () => {
      closeSync(handle);
    },
  };
}

function readNumber(path: string): number {
  const sends = Number(readFileSync(path, 'utf8'));
  return Number.isSafeInteger(sends) ? sends : 0;
}

const RAISE = `if tonumber(ARGV[1]) > tonumber(redis.call('get', KEYS[1]) or '0') then redis.call('set', KEYS[1], ARGV[1]) end`;
const CONNECT_MS = 2_000;
const COMMAND_MS = 500; // A send gives up where more than two seconds pass between its journal and its start.

/**
 * Opens a send counter in Redis, for a database that is not a file. While Redis is away writes are dropped, so that no send waits; the
 * next write catches up.
 */
async function createRedisCounter(url: string, name: string): Promise<OpenSendCounter> {
  // A third of what a pull takes to start. The bundle gives a CommonJS library as `default` alone.
  const {
    default: { Redis },
  } = await import('ioredis');
  const key = `bms-sync:sends:${name}`;
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: CONNECT_MS,
  });
  client.on('error', () => undefined); // Without a listener ioredis writes to the console; every call gets its own error.
  const ready = new Promise<void>((resolve) => {
    client.once('ready', resolve);
    setTimeout(resolve, CONNECT_MS).unref();
  });
  return {
    read: async () => {
      await ready;
      return client.get(key).then(Number, () => null);
    },
    write: async (value) => {
      await client.eval(RAISE, 1, key, value).catch(() => undefined);
    },
    close: () => {
      client.disconnect();
    },
  };
}
