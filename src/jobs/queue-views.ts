import type { Queue } from 'bullmq';
import { SyncError } from '../lib/sync-error.ts';
import { PREFIX, storeOf } from './bullmq-bell.ts';
import type { BullmqParts } from './bullmq-bell.ts';
import { createFaultLog } from './fault-log.ts';
import { openView } from './line-ends.ts';
import { PACE } from './pace.ts';
import { LATE, within } from './within.ts';

/** BullMQ's queues for somebody who looks at them; connections are made at the first question. */
export interface QueueViews {
  /** Asks the queues, for a while. @throws {SyncError} `queue.unreachable`; what is thrown as a `SyncError` is handed on. */
  ask<T>(question: (queues: readonly Queue[]) => Promise<T>): Promise<T>;
  /** Never hangs, whatever the store does. */
  close(): Promise<void>;
}

/**
 * Opens views of the queues with these names.
 *
 * @throws {UsageError} `jobs.bad_address` where queues cannot be kept at that address.
 */
export function openQueueViews(
  url: string,
  names: readonly string[],
  { clock, logger, pace: changes, prefix = PREFIX }: BullmqParts,
): QueueViews {
  const pace = { ...PACE, ...changes };
  const store = storeOf(url, pace);
  const faults = createFaultLog({ clock, logger });
  const views = names.map((name) => openView({ store, clock, pace, faults, name: `${prefix}-${name}` }));
  return {
    ask: async (question) => {
      const ends = views.flatMap((view) => view.get() ?? []);
      if (ends.length < views.length) throw unreachable();
      try {
        const asked = question(ends.map(({ queue }) => queue));
        const answer = await within(clock, pace.ringMs, asked);
        if (answer !== LATE) return answer;
      } catch (error) {
        if (error instanceof SyncError) throw error;
        faults('looking at the queues', error);
      }
      throw unreachable();
    },
    close: async () => {
      await Promise.all(views.map((view) => view.close()));
    },
  };
}

function unreachable(): SyncError {
  return new SyncError('The queue does not answer.', {
    code: 'queue.unreachable',
    hint: 'Work goes on without it, a little later; bms-sync doctor says what is wrong.',
  });
}
