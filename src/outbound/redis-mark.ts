import { Redis } from 'ioredis';
import type { OpenMark } from './freeze.ts';

const RAISE = `if tonumber(ARGV[1]) > tonumber(redis.call('get', KEYS[1]) or '0') then redis.call('set', KEYS[1], ARGV[1]) end`;
const CONNECT_MS = 2_000;
const COMMAND_MS = 500; // A send gives up where more than two seconds pass between its journal and its start.

/**
 * Opens a mark in Redis, for a database that is no file. While Redis is away writes are dropped, so that no send waits; the
 * next write catches up.
 */
export function createRedisMark(url: string, name: string): OpenMark {
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
