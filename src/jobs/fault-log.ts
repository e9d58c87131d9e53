import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Logs what went wrong at which work. */
export type FaultLog = (work: string, error: unknown) => void;

const EVERY_MS = 60_000;

/** Makes a log for faults that come by the thousand while a server is away: each sort once a minute, with its number. */
export function createFaultLog({
  logger,
  clock,
}: {
  readonly logger: Logger;
  readonly clock: Clock;
}): FaultLog {
  const sorts = new Map<string, { loggedAt: number; unsaid: number }>();
  return (work, error) => {
    const now = clock.monotonicMs();
    const sort = sorts.get(`${work} ${codeOf(error)}`);
    if (sort !== undefined && now - sort.loggedAt < EVERY_MS) {
      sort.unsaid += 1;
      return;
    }
    logger.warn({ err: told(error), work, more: sort?.unsaid ?? 0 }, `${work} failed`);
    sorts.set(`${work} ${codeOf(error)}`, { loggedAt: now, unsaid: 0 });
  };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** An error without what its maker hung on it: ioredis adds the command, which may be the one with the password. */
function told(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`a thrown ${typeof error}`);
  const { message, stack, cause } = error;
  const plain = new Error(message, cause === undefined ? {} : { cause: told(cause) });
  return Object.assign(plain, { stack, code: codeOf(error) });
}
