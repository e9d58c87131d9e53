import { SyncError, errorCode, isOurs, reasonOf } from '../sync-error.ts';
import { formatDuration, sleepUnlessStopped, type Clock } from '../time/clock.ts';
import { TIMED_OUT_RESULT, withTimeout } from '../time/deadline.ts';
import type { Logger } from './logger.ts';

interface LogParts {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** What may fail: our own work, or something outside. */
interface Subject {
  /** Its name in messages: `polling outbox`, `the service`. */
  readonly name: string;
  /** Of something outside, the beginning of its events' names: `source` for `source.unreachable` and `source.back`. */
  readonly event?: 'source' | 'database' | 'queue' | 'monitor';
}

export type FaultLog = ReturnType<typeof createFaultLog>;

/** Our own work may fail and succeed by turns, such as on several rows: its fault has ended once it did not come for this time. */
const CALM_MS = 60_000;

/** Creates the log of what may fail by the thousand while a server is away: a line when a fault begins, and one when it has ended. */
export function createFaultLog({ logger, clock }: LogParts, { name, event }: Subject) {
  const failedParts = new Set<string>();
  const loggedCodes = new Set<string>();
  let since = clock.now();
  let latestMs = clock.monotonicMs();
  return {
    /** @param part All parts must succeed before it is back: a database that can be read only is still away. */
    failed: (error: unknown, part = ''): void => {
      latestMs = clock.monotonicMs();
      if (failedParts.size === 0) since = clock.now();
      failedParts.add(part);
      const code = event ?? codeOf(error); // Something outside is away only once, whatever the errors.
      if (loggedCodes.has(code)) return;
      loggedCodes.add(code);
      if (event === undefined) return logger.warn({ err: error, work: name }, `${name} failed`);
      const reason = reasonOf(error);
      const facts = { event: `${event}.unreachable`, since: since.toISOString(), reason };
      logger.warn(facts, `${name} is unreachable: ${reason}`);
    },
    succeeded: (part = ''): void => {
      if (event === undefined && clock.monotonicMs() - latestMs < CALM_MS) return;
      if (!failedParts.delete(part) || failedParts.size > 0) return;
      loggedCodes.clear();
      const durationMs = clock.now().getTime() - since.getTime();
      const facts = { event: event && `${event}.back`, since: since.toISOString(), durationMs };
      const end = event === undefined ? 'works again' : 'is back';
      logger.info(facts, `${name} ${end} after ${formatDuration(durationMs)}`);
    },
    isOngoing: (): boolean => failedParts.size > 0,
  };
}

const codeOf = (error: unknown): string =>
  errorCode(error) || (error instanceof Error ? error.name : typeof error);

interface ProbeOptions extends Subject {
  /** Asks it for something. @throws If it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** The longest that it may take to answer. */
  readonly answerMs: number;
  /** Between two probes while it is away. */
  readonly everyMs: number;
}

export type ProbingLog = ReturnType<typeof createProbingLog>;

/**
 * Creates a log that probes something outside after a fault: the errors of libraries vary too much to show whether it is
 * unreachable. While it is unreachable, the probe repeats, because nothing else may use it for hours.
 */
export function createProbingLog(parts: LogParts, { probe, answerMs, everyMs, ...outside }: ProbeOptions) {
  const { clock } = parts;
  const outage = createFaultLog(parts, outside);
  const works = new Map<string, FaultLog>();
  const stopping = new AbortController();
  let probing: Promise<void> | null = null;
  const isReachable = (): Promise<boolean> =>
    withTimeout(clock, answerMs, probe()).then(
      (answer) => answer !== TIMED_OUT_RESULT,
      () => false, // The original fault has the cause.
    );
  const probeUntilBack = async (work: string, error: unknown): Promise<void> => {
    const log = works.get(work) ?? createFaultLog(parts, { name: work });
    works.set(work, log);
    if (await isReachable()) log.failed(isOurs(error) ? error : asFault(error));
    else outage.failed(error);
    while (outage.isOngoing()) {
      await sleepUnlessStopped(everyMs, { clock, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (await isReachable()) outage.succeeded();
    }
  };
  return {
    failed: (work: string, error: unknown): void => {
      if (stopping.signal.aborted) return;
      probing ??= probeUntilBack(work, error).finally(() => {
        probing = null;
      });
    },
    succeeded: (work: string): void => works.get(work)?.succeeded(),
    stop: async (): Promise<void> => {
      stopping.abort();
      await probing;
    },
  };
}

/** What a library reports of something outside that answers is no bug of ours, so the log needs no stack. */
function asFault(error: unknown): SyncError {
  const message = error instanceof Error ? error.message : String(error);
  return new SyncError(message, { code: codeOf(error), cause: error });
}
