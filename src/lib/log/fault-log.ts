import { SyncError, errorCode } from '../sync-error.ts';
import type { Clock } from '../time/clock.ts';
import type { Logger } from './logger.ts';

export type FaultLog = (work: string, error: unknown) => void;

const EVERY_MS = 60_000;

/**
 * Creates a log for faults that come by the thousand while a server is away: each kind of fault once a minute, with a count, and
 * only a bug with its stack. Skips faults that are reported elsewhere: a database outage is logged once, by its own line.
 */
export function createFaultLog(
  logger: Logger,
  clock: Clock,
  isReportedElsewhere: (error: unknown) => boolean = () => false,
): FaultLog {
  const faultsByName = new Map<string, { loggedAt: number; suppressed: number }>();
  return (work, error) => {
    if (isReportedElsewhere(error)) return;
    const now = clock.monotonicMs();
    const name = `${work} ${codeOf(error)}`;
    const lastFault = faultsByName.get(name);
    if (lastFault !== undefined && now - lastFault.loggedAt < EVERY_MS) {
      lastFault.suppressed += 1;
      return;
    }
    const more = lastFault?.suppressed ?? 0;
    if (error instanceof SyncError) {
      const { code, hint } = error;
      logger.warn({ code, hint, work, more }, `${work} failed: ${faultReason(error)}`);
    } else logger.warn({ err: plainError(error), work, more }, `${work} failed`);
    faultsByName.set(name, { loggedAt: now, suppressed: 0 });
  };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return errorCode(error) || error.name;
}

/** Copies an error without added properties: ioredis adds the command, which may contain the password. */
function plainError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`a thrown ${typeof error}`);
  const { message, stack, cause } = error;
  const plain = new Error(message, cause === undefined ? {} : { cause: plainError(cause) });
  return Object.assign(plain, { stack, code: codeOf(error) });
}

/** The codes of Node, undici and PostgreSQL for something that is away, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  ECONNABORTED: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no answer in time',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up',
  EHOSTUNREACH: 'its host is unreachable',
  ENETDOWN: 'the network is down',
  ENETUNREACH: 'its network is unreachable',
  '57P01': 'it was shut down',
  '57P02': 'it has crashed',
  '57P03': 'it is starting or stopping',
};

/** Why something is away, in a few words for a message: `connection refused`. */
export function faultReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return findReason(error) ?? message.replace(/\.$/, '');
}

function findReason(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = errorCode(error);
  if (!(error instanceof SyncError) && REASONS[code] !== undefined) return REASONS[code];
  return findReason(error instanceof AggregateError ? error.errors[0] : error.cause);
}
