import { dueEntries, raiseEntry } from '../../mirror/outbox/outbox-queue.ts';
import type { WorkRef as DueEntry } from '../../lib/work-queue.ts';
import { readFrozen } from '../freeze/frozen.ts';
import type { OutboundParts } from '../parts.ts';
import { recoverEntries } from './recover.ts';
import { workEntry } from './work-entry.ts';

/** The outbox as rows that somebody works: what is due, how to work it, how to free it from the dead. */
export interface OutboxWork {
  due(limit: number): Promise<readonly DueEntry[]>;
  raise(due: DueEntry): Promise<DueEntry | null>;
  work(due: DueEntry): Promise<void>;
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
    // What is ours and not in hand was dropped by an error: its journal says where it is.
    takeOver: (isDead) =>
      recoverEntries(parts, ({ id }, other) => (other === owner ? !inHand.has(id) : isDead(other))),
  };
}
