import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { sqlitePath } from '../mirror/open-session.ts';
import type { OpenMark } from './freeze.ts';

/** The settings of the places where a mark can be kept. */
interface MarkPlaces {
  readonly database: { readonly url: string };
  readonly queue: { readonly url: string | null };
}

/** Opens the mark that every send leaves outside the database: in a file beside it, or in Redis if the settings name one. */
export async function openSendMark({ database, queue }: MarkPlaces): Promise<OpenMark> {
  const { url } = database;
  const path = sqlitePath(url);
  if (path !== null) return createFileMark(`${path}.sends`);
  if (queue.url !== null && /^rediss?:/.test(queue.url)) {
    const { createRedisMark } = await import('./redis-mark.ts'); // Its client is a third of what a pull takes to start.
    return createRedisMark(queue.url, nameOf(url));
  }
  return { read: () => Promise.resolve(0), write: () => Promise.resolve(), close: () => undefined };
}

/** Identifies a database regardless of the user; never contains a password. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
}

const DIGITS = 16;
const OWNER_ONLY = 0o600;

/**
 * Opens a mark in a file beside the database: a back-up of the database rarely includes that file.
 *
 * The number is overwritten in place, at a fixed length and well within a sector, so that it is never half written.
 */
export function createFileMark(path: string): OpenMark {
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
