import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from './sync-error.ts';

/**
 * Whether an earlier process of this place, known by its number, has ended. It has where the number is now our own: the processes of
 * a container all have number 1.
 */
export function hasProcessEnded(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0); // Signal 0 only checks that the process exists.
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** Returns an id of the PID namespace; null if it is unknown, as on systems other than Linux. */
export function processNamespace(): string | null {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${start} ${namespace}`).digest('hex').slice(0, 12);
  } catch (error) {
    if (errorCode(error) !== '') return null;
    throw error;
  }
}
