import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { hasProcessEnded, processNamespace } from './process-id.ts';

const place = processNamespace();

/**
 * Names this process in the rows that it claims. Host and process number are for the reader of a message; two containers may share both.
 */
export const THIS_PROCESS = [hostname(), process.pid, place ?? 'unknown', randomUUID().slice(0, 8)].join(':');

/** An owner as messages show it. */
export const describeOwner = (owner: string): string => owner.replace(/^(.*?):(.*?):.*/, 'process $2 on $1');

/**
 * Whether the process of an owner has certainly ended. Only one that ran in the same place can be judged by its number; any other
 * lives as long as its lease.
 */
export function hasEnded(owner: string): boolean {
  const [, pid, ownerPlace] = owner.split(':');
  return owner !== THIS_PROCESS && place !== null && ownerPlace === place && hasProcessEnded(Number(pid));
}
