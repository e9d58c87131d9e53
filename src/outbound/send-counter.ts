import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { sanitizeLine } from '../lib/text/text.ts';
import type { Session } from '../db/session/session.ts';
import { readCountedPlace, type CounterReader, type OpenSendCounter, type SendCounter } from './freeze.ts';

/** Opens the mark that every send leaves outside the database: in a file beside it, or in Redis if the queue is there. */
export async function openSendCounter(session: Session, queueUrl: string | null): Promise<OpenSendCounter> {
  if (session.dialect === 'sqlite') return createFileCounter(`${session.location}.sends`);
  if (queueUrl !== null) return createRedisCounter(queueUrl, await readCountedPlace(session));
  return { read: () => Promise.resolve(0), write: () => Promise.resolve(), close: () => undefined };
}

const DIGITS = 16;
const OWNER_ONLY = 0o600;
const NOTE_BYTES = 256;
/** How many of the latest sends are noted, each in its place behind the number. */
const NOTES_KEPT = 1_000;

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
    ...createFileReader(path),
    read: () => Promise.resolve(Math.max(latest, readNumber(path))),
    write: (sends, note = '') => {
      if (sends > latest) {
        latest = sends;
        const place = DIGITS + 1 + NOTE_BYTES * (sends % NOTES_KEPT);
        writeSync(handle, lineOf(`${sends} ${note}`), 0, NOTE_BYTES, place);
        writeSync(handle, `${String(sends).padStart(DIGITS)}\n`, 0);
      }
      return Promise.resolve();
    },
    close: () => {
      closeSync(handle);
    },
  };
}

/** A note of exactly so many bytes: no character is cut. */
function lineOf(note: string): Buffer {
  const line = Buffer.alloc(NOTE_BYTES, ' ');
  line.write(sanitizeLine(note), 0, NOTE_BYTES - 1);
  line.write('\n', NOTE_BYTES - 1);
  return line;
}

/** Reads a mark in a file, which need not be there. */
function createFileReader(path: string): CounterReader {
  return {
    read: () => Promise.resolve(existsSync(path) ? readNumber(path) : 0),
    notes: (after) => Promise.resolve(existsSync(path) ? notesAbove(linesOf(path).slice(1), after) : []),
  };
}

/** Reads the mark without opening it for writing; creates nothing. */
export function createCounterReader(session: Session, queueUrl: string | null): CounterReader {
  if (session.dialect === 'sqlite') return createFileReader(`${session.location}.sends`);
  const use = async <T>(work: (counter: SendCounter) => Promise<T>): Promise<T> => {
    const counter = await openSendCounter(session, queueUrl);
    return work(counter).finally(() => counter.close());
  };
  return {
    read: () => use((one) => one.read()),
    notes: (after) => use(async (one) => (await one.notes?.(after)) ?? []),
  };
}

const numberOf = (note: string): number => Number.parseInt(note.replaceAll('\0', ''), 10);

/** The texts of the notes above a number, the first send first. An entry that was tried again is one send to look for: its latest. */
function notesAbove(notes: readonly string[], after: number): readonly string[] {
  const texts = notes
    .filter((note) => numberOf(note) > after)
    .toSorted((a, b) => numberOf(a) - numberOf(b))
    .map((note) =>
      note
        .replaceAll('\0', '')
        .replace(/^\s*\d+ /, '')
        .trimEnd(),
    );
  return [...new Map(texts.map((text) => [text.replace(NOTED_AT, ''), text])).values()];
}

const NOTED_AT = /, [\d-]{10} [\d:.]{12} UTC/;

const linesOf = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n');

function readNumber(path: string): number {
  const sends = Number(linesOf(path)[0]);
  return Number.isSafeInteger(sends) ? sends : 0;
}

const RAISE = `redis.call('hset', KEYS[2], ARGV[1] % ${NOTES_KEPT}, ARGV[1] .. ' ' .. ARGV[2])
  if tonumber(ARGV[1]) > tonumber(redis.call('get', KEYS[1]) or '0') then redis.call('set', KEYS[1], ARGV[1]) end`;
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
    write: async (value, note = '') => {
      await client.eval(RAISE, 2, key, `${key}:notes`, value, note).catch(() => undefined);
    },
    notes: async (after) => {
      await ready;
      return client.hgetall(`${key}:notes`).then(
        (notes) => notesAbove(Object.values(notes), after),
        () => [],
      );
    },
    close: () => {
      client.disconnect();
    },
  };
}
