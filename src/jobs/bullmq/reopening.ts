import type { Clock } from '../../lib/time/clock.ts';
import { within } from '../../lib/time/deadline.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';
import type { Timings } from '../timings.ts';
import type { ClientOptions, QueueClient } from './queue-client.ts';

interface ReopeningParts {
  /** The queue's name in BullMQ. */
  readonly name: string;
  readonly clock: Clock;
  readonly timings: Timings;
  readonly faults: FaultLog;
  readonly open: (onFault: ClientOptions['onFault']) => QueueClient;
  /** Resolves once no handler runs. */
  readonly running: () => Promise<void>;
}

/** A queue client that is opened again after a fatal fault, and after a storm of faults. */
export interface Reopening {
  /** The present client; null if it broke a moment ago, or after `close`. */
  get(): QueueClient | null;
  close(): Promise<void>;
}

const STORM = 100; // This many faults in a second mean that BullMQ loops without a pause.
const STORM_MS = 1_000;

export function createReopening(parts: ReopeningParts): Reopening {
  const { name, clock, timings, faults, open } = parts;
  const ending = new Set<Promise<void>>();
  let current: QueueClient | null = null;
  let notBefore = -Infinity;
  let isClosed = false;

  const abandon = (): void => {
    if (current === null) return;
    const end = dispose(parts, current).then(() => void ending.delete(end));
    ending.add(end);
    current = null;
  };
  const reopen = (): QueueClient => {
    const isStorm = createStormCounter(clock);
    let opened: QueueClient | null = null;
    const client = open((error, isFatal) => {
      if (opened === null || current !== opened) return; // A fault of a client that was abandoned.
      faults(`the queue ${name}`, error);
      if (isFatal === undefined && !isStorm()) return;
      notBefore = clock.monotonicMs() + timings.reopenMs;
      abandon();
    });
    opened = client;
    return client;
  };
  return {
    get: () => {
      if (!isClosed && clock.monotonicMs() >= notBefore) current ??= reopen();
      return current;
    },
    close: async () => {
      isClosed = true;
      abandon();
      await Promise.all(ending);
    },
  };
}

/** Waits for running handlers, then closes for a moment, then cuts the connections. */
async function dispose(
  { name, clock, timings, faults, running }: ReopeningParts,
  client: QueueClient,
): Promise<void> {
  const closed = client.close().catch((error: unknown) => {
    faults(`closing ${name}`, error);
  });
  await running();
  await within(clock, timings.notifyMs, closed);
  client.drop();
}

/** Counts its calls; true once there were too many in a second. */
function createStormCounter(clock: Clock): () => boolean {
  let since = -Infinity;
  let count = 0;
  return () => {
    const now = clock.monotonicMs();
    if (now - since > STORM_MS) [since, count] = [now, 0];
    count += 1;
    return count >= STORM;
  };
}
