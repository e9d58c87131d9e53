import type { Clock } from '../../lib/time/clock.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { createOutageLog } from '../../lib/log/outage-log.ts';
import { LATE, within } from '../../lib/time/deadline.ts';
import { sleepUnlessStopped } from '../../lib/time/clock.ts';
import type { Timings } from '../timings.ts';

interface QueueWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: Timings;
  /** Logs faults of a store that answers. */
  readonly faults: FaultLog;
  /** Asks the store for something. @throws If it does not answer. */
  readonly probe: () => Promise<unknown>;
}

/** Tells in the log when the queue's store goes away and comes back. */
interface QueueWatch {
  readonly faults: FaultLog;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a watch that asks the store itself after a fault: libraries report faults in too many forms to tell by them whether
 * it is away. While it is away it is asked again now and then, because nothing else may use it for hours.
 */
export function createQueueWatch(parts: QueueWatchParts): QueueWatch {
  const { clock, timings, faults: log } = parts;
  const outage = createOutageLog(parts, { event: 'queue', name: 'the queue' });
  const stopping = new AbortController();
  let asking: Promise<void> | null = null;

  const ask = async (work: string, error: unknown): Promise<void> => {
    const begunAt = clock.now().getTime();
    if (await answers(parts)) log(work, error);
    else outage.failed(error, begunAt);
    while (outage.isOn()) {
      await sleepUnlessStopped(timings.reopenMs, { clock, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (await answers(parts)) outage.answered();
      else outage.failed(error, begunAt);
    }
  };
  return {
    faults: (work, error) => {
      if (stopping.signal.aborted) return;
      asking ??= ask(work, error).finally(() => {
        asking = null;
      });
    },
    stop: async () => {
      stopping.abort();
      await asking;
    },
  };
}

async function answers({ clock, timings, probe }: QueueWatchParts): Promise<boolean> {
  try {
    return (await within(clock, timings.notifyMs, probe())) !== LATE;
  } catch {
    return false; // The fault that led here says why.
  }
}
