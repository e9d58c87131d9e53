import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { hasProcessEnded, processNamespace } from './process-id.ts';

/** A process of bms-sync in the rows that it works. */
export interface Owner {
  readonly name: string;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (name: string) => boolean;
}

/**
 * Names this process. Host and process number are for the reader of a message; two containers may share both. So only a process
 * that runs in the same place judges another one by its number. Any other process lives as long as its lease.
 */
export function createOwner(): Owner {
  const place = processNamespace();
  const name = [hostname(), process.pid, place ?? 'unknown', randomUUID().slice(0, 8)].join(':');
  return {
    name,
    isDead: (other) => {
      const [, pid, otherPlace] = other.split(':');
      return other !== name && place !== null && otherPlace === place && hasProcessEnded(Number(pid));
    },
  };
}
