import type { WorkQueue, WorkRef } from '../../lib/work-queue.ts';
import { dueEntries, raiseEntry } from '../../mirror/outbox/outbox-queue.ts';
import { readFrozen } from '../freeze/frozen.ts';
import type { OutboundParts } from '../parts.ts';
import { recoverEntries } from './recover.ts';
import { workEntry } from './work-entry.ts';

/** The outbox as a work queue: due entries, the work on one, and recovery from dead owners. */
export interface OutboxWork extends Pick<WorkQueue, 'due' | 'raise'> {
  work(due: WorkRef): Promise<void>;
  /** Frees the entries of owners that are gone, and those of this process that an error dropped. */
  takeOver(isDead: (owner: string) => boolean): Promise<void>;
}

export function outboxWork(parts: OutboundParts): OutboxWork {
  const { session, clock, owner } = parts;
  const inHand = new Set<number>();
  return {
    due: async (limit) =>
      (await readFrozen(session)) === null ? await dueEntries(session, clock.now(), limit) : [],
    raise: (due) => session.atomically((tx) => raiseEntry(tx, due, clock.now())),
    work: async (due) => {
      if (inHand.has(due.id)) return;
      inHand.add(due.id);
      try {
        await workEntry(parts, due);
      } finally {
        inHand.delete(due.id);
      }
    },
    // An entry of ours that is not being worked was dropped by an error: its journal shows its state.
    takeOver: (isDead) =>
      recoverEntries(parts, ({ id }, other) => (other === owner ? !inHand.has(id) : isDead(other))),
  };
}
