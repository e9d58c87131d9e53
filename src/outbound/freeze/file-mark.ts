import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { SendMark } from './freeze.ts';

/** A mark that can be closed. */
interface FileMark extends SendMark {
  readonly close: () => void;
}

const DIGITS = 16;
const OWNER_ONLY = 0o600;

/**
 * Opens a mark in a file beside the database: a back-up of the database rarely includes that file.
 *
 * The number is overwritten in place, at a fixed length and well within a sector, so that it is never half written.
 */
export function createFileMark(path: string): FileMark {
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
