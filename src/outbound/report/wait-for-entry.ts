import { sleepUnlessStopped } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { findEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry, EntryState } from '../../mirror/outbox/outbox-store.ts';
import type { Queryable } from '../../mirror/session/session.ts';

interface EntryWait {
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 500;
const ENDED: readonly EntryState[] = ['done', 'rejected', 'parked', 'abandoned'];

/** Waits until these entries are done or need a person, or the time is up; returns their states. */
export async function waitForEntries(
  db: Queryable,
  ids: readonly number[],
  waiting: EntryWait,
): Promise<Entry[]> {
  const { clock, timeoutMs, signal } = waiting;
  const deadline = clock.monotonicMs() + timeoutMs;
  const isOver = (): boolean => signal.aborted || clock.monotonicMs() >= deadline;
  for (const id of ids) {
    while (!(await hasEnded(db, id)) && !isOver())
      await sleepUnlessStopped(Math.max(1, Math.min(POLL_MS, deadline - clock.monotonicMs())), waiting);
    if (isOver()) break;
  }
  const entries: Entry[] = [];
  for (const id of ids) {
    const entry = await findEntry(db, id);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

async function hasEnded(db: Queryable, id: number): Promise<boolean> {
  const entry = await findEntry(db, id);
  return entry === null || ENDED.includes(entry.state);
}
