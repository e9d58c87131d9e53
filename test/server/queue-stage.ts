import { inject, onTestFinished } from 'vitest';
import { openQueueViews } from '../../src/jobs/queue-views.ts';
import type { QueueViews } from '../../src/jobs/queue-views.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { QUICK, memoryLog, ownPrefix } from '../jobs/support.ts';

export interface Views {
  readonly queueViews: QueueViews;
  readonly url: string;
  readonly prefix: string;
  /** The names of its queues in BullMQ. */
  readonly names: readonly string[];
  /** What was logged of them. */
  readonly lines: readonly Record<string, unknown>[];
}

/** Views of queues of our own, until the test ends; in the Redis of the tests where no address is given. */
export function viewQueues(url: string = inject('redisUrl')): Views {
  const [prefix, { logger, lines }] = [ownPrefix(), memoryLog()];
  const queueViews = openQueueViews(url, ['runs', 'outbox'], {
    ...{ clock: systemClock, logger, prefix, pace: QUICK },
  });
  onTestFinished(() => queueViews.close());
  return { queueViews, url, prefix, names: [`${prefix}-runs`, `${prefix}-outbox`], lines };
}
