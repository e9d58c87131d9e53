import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { OnRing } from './bell.ts';
import type { FaultLog } from './fault-log.ts';
import { createHearing } from './hearing.ts';
import type { Hearing } from './hearing.ts';
import type { Consumer, JobStore, Producer, QueueEnd } from './job-store.ts';
import type { Pace } from './pace.ts';
import { createRenewable } from './renewable.ts';
import type { Renewable } from './renewable.ts';
import { within } from './within.ts';
import type { WorkQueue } from './work-queue.ts';

export interface LineParts {
  readonly store: JobStore;
  readonly queue: WorkQueue;
  /** The queue's name in BullMQ. */
  readonly name: string;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly logger: Logger;
  readonly faults: FaultLog;
}

/** What takes jobs out of a queue, and what happens to them. */
export interface Ear {
  readonly hearing: Hearing;
  readonly consumer: Renewable<Consumer>;
}

export function openProducer(parts: LineParts): Renewable<Producer> {
  const { store, name, faults } = parts;
  return createRenewable<Producer>({
    ...reopening(parts),
    open: (onFault) => store.produce(name, onFault),
    retire: (end) => retire(parts, end),
    onFault: (error) => {
      faults(`ringing ${name}`, error);
    },
  });
}

export function openEar(parts: LineParts, onRing: OnRing): Ear {
  const { store, name, logger, faults } = parts;
  const { concurrency } = parts.queue;
  const hearing = createHearing({ queue: name, concurrency, onRing, logger });
  const { onJob } = hearing;
  const consumer = createRenewable<Consumer>({
    ...reopening(parts),
    open: (onFault) => store.consume(name, { concurrency, onJob }, onFault),
    retire: (end) => retire(parts, end, hearing.idle()),
    onFault: (error) => {
      faults(`listening to ${name}`, error);
    },
  });
  return { hearing, consumer };
}

const reopening = ({ clock, pace }: LineParts): { readonly clock: Clock; readonly reopenMs: number } => ({
  clock,
  reopenMs: pace.reopenMs,
});

/** Lets an end finish what is in hand, then close in order for a moment, then cuts it. */
async function retire(
  { clock, pace, name, faults }: LineParts,
  end: QueueEnd,
  inHand = Promise.resolve(),
): Promise<void> {
  const closed = end.close().catch((error: unknown) => {
    faults(`closing ${name}`, error);
  });
  await inHand;
  await within(clock, pace.ringMs, closed);
  end.drop();
}
