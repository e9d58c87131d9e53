import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Owner } from './parts.ts';
import { isRunning } from '../../lib/is-running.ts';

/** Names this process so that another process on this host can check whether it still runs. */
export function createOwner(): Owner {
  const host = hostname();
  const name = `${host}:${process.pid}:${randomUUID().slice(0, 8)}`;
  return {
    name,
    isDead: (other) => {
      const [otherHost, pid] = other.split(':');
      if (other === name || otherHost !== host) return false;
      // A container's processes all have number 1: another owner of our own number was here before us.
      return Number(pid) === process.pid || !isRunning(Number(pid));
    },
  };
}
