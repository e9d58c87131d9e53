import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isProcessRunning, processNamespace } from './process-id.ts';

/** A process of bms-sync in the rows that it works. */
export interface Owner {
  readonly name: string;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (name: string) => boolean;
}

/**
 * Names this process. Host and process number are for the reader of a message; two containers may share both. So a process
 * is judged by its number only where that number means it: by a process that runs in the same place. The life of any other
 * is its lease.
 */
export function createOwner(): Owner {
  const place = processNamespace();
  const name = [hostname(), process.pid, place ?? 'unknown', randomUUID().slice(0, 8)].join(':');
  return {
    name,
    isDead: (other) => {
      const [, pid, otherPlace] = other.split(':');
      if (other === name || place === null || otherPlace !== place) return false;
      return Number(pid) === process.pid || !isProcessRunning(Number(pid)); // Of our own number there can have been only another one before us.
    },
  };
}
