import { errorCode } from './sync-error.ts';

/** Whether a process of this host runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0); // Signal 0 only checks that the process exists.
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
