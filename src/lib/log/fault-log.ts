import type { Clock } from '../time/clock.ts';
import { faultReason } from './fault-reason.ts';
import type { Logger } from './logger.ts';
import { SyncError } from '../sync-error.ts';
import { errorCode } from '../error-code.ts';

/** Logs an error together with the name of the work. */
export type FaultLog = (work: string, error: unknown) => void;

const EVERY_MS = 60_000;

interface FaultLogParts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether another line of the log tells of a fault already: an outage of the database is told once. */
  readonly isTold?: (error: unknown) => boolean;
}

/**
 * Creates a log for faults that come by the thousand while a server is away: it logs each kind of fault once a minute, with a
 * count. Only a bug is logged with its stack.
 */
export function createFaultLog({ logger, clock, isTold }: FaultLogParts): FaultLog {
  const sorts = new Map<string, { loggedAt: number; unsaid: number }>();
  return (work, error) => {
    if (isTold?.(error) === true) return;
    const now = clock.monotonicMs();
    const sort = sorts.get(`${work} ${codeOf(error)}`);
    if (sort !== undefined && now - sort.loggedAt < EVERY_MS) {
      sort.unsaid += 1;
      return;
    }
    const more = sort?.unsaid ?? 0;
    if (error instanceof SyncError)
      logger.warn(
        { code: error.code, hint: error.hint, work, more },
        `${work} failed: ${faultReason(error)}`,
      );
    else logger.warn({ err: told(error), work, more }, `${work} failed`);
    sorts.set(`${work} ${codeOf(error)}`, { loggedAt: now, unsaid: 0 });
  };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return errorCode(error) || error.name;
}

/** Copies an error without added properties: ioredis adds the command, which may contain the password. */
function told(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`a thrown ${typeof error}`);
  const { message, stack, cause } = error;
  const plain = new Error(message, cause === undefined ? {} : { cause: told(cause) });
  return Object.assign(plain, { stack, code: codeOf(error) });
}
