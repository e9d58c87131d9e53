import { formatDuration, sleepUnlessStopped, type Clock } from '../time/clock.ts';
import { TIMED_OUT_RESULT, withTimeout } from '../time/deadline.ts';
import { createFaultLog, faultReason, type FaultLog } from './fault-log.ts';
import type { Logger } from './logger.ts';

interface Dependency {
  /** The beginning of the events' names: `source` for `source.unreachable` and `source.back`. */
  readonly event: 'source' | 'database' | 'queue' | 'monitor';
  /** Its name in messages: `the service`. */
  readonly name: string;
}

/** Logs when a dependency becomes unreachable and when it is back, based on the results of calls to it. */
export function createOutageLog(
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  dependency: Dependency,
) {
  const { event, name } = dependency;
  /** The parts that failed and have not answered since: a database that can be read only is still away. */
  const failedParts = new Set<string>();
  let since = clock.now();
  return {
    answered: (part = ''): void => {
      if (!failedParts.delete(part) || failedParts.size > 0) return;
      const durationMs = clock.now().getTime() - since.getTime();
      const facts = { event: `${event}.back`, since: since.toISOString(), durationMs };
      logger.info(facts, `${name} is back after ${formatDuration(durationMs)}`);
    },
    failed: (error: unknown, part = ''): void => {
      const isFirstFailure = failedParts.size === 0;
      failedParts.add(part);
      if (!isFirstFailure) return;
      since = clock.now();
      const reason = faultReason(error);
      const facts = { event: `${event}.unreachable`, since: since.toISOString(), reason };
      logger.warn(facts, `${name} is unreachable: ${reason}`);
    },
    isOngoing: (): boolean => failedParts.size > 0,
  };
}

interface ProbeOptions extends Dependency {
  /** Asks it for something. @throws If it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** The longest that it may take to answer. */
  readonly answerMs: number;
  /** Between two probes while it is away. */
  readonly everyMs: number;
}

/**
 * Creates an outage log that probes the dependency after a fault: the errors of libraries vary too much to show whether it is
 * unreachable. While it is unreachable, the probe repeats, because nothing else may use the dependency for hours.
 */
export function createProbingLog(
  logger: Logger,
  clock: Clock,
  { probe, answerMs, everyMs, ...dependency }: ProbeOptions,
): { readonly faults: FaultLog; readonly stop: () => Promise<void> } {
  const log = createFaultLog(logger, clock);
  const outage = createOutageLog({ clock, logger }, dependency);
  const stopping = new AbortController();
  let probing: Promise<void> | null = null;
  const isReachable = (): Promise<boolean> =>
    withTimeout(clock, answerMs, probe()).then(
      (answer) => answer !== TIMED_OUT_RESULT,
      () => false, // The original fault has the cause.
    );
  const probeUntilBack = async (work: string, error: unknown): Promise<void> => {
    if (await isReachable()) log(work, error);
    else outage.failed(error);
    while (outage.isOngoing()) {
      await sleepUnlessStopped(everyMs, { clock, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (await isReachable()) outage.answered();
    }
  };
  return {
    faults: (work, error) => {
      if (stopping.signal.aborted) return;
      probing ??= probeUntilBack(work, error).finally(() => {
        probing = null;
      });
    },
    stop: async () => {
      stopping.abort();
      await probing;
    },
  };
}
