import type { Clock } from '../lib/clock.ts';
import type { Queryable } from '../mirror/session/session.ts';
import { changesBetween, latestSeq } from './read-changes.ts';
import type { RecordedChange } from './read-changes.ts';

export interface FollowOptions {
  readonly after: number;
  readonly kind?: string | undefined;
}

interface FollowParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
}

const POLL_MS = 1_000;

/**
 * Hands out the events after a `seq` in order, each once, then waits for further ones; ends when the signal is
 * aborted.
 *
 * Writers commit one after the other on both databases, in the order of `seq`. So all events up to the latest visible
 * one are complete, and the cursor may pass events of other kinds.
 */
export async function* followChanges(
  db: Queryable,
  { after, kind }: FollowOptions,
  { clock, signal }: FollowParts,
): AsyncGenerator<RecordedChange> {
  let cursor = after;
  while (!signal.aborted) {
    const upTo = await latestSeq(db);
    yield* changesBetween(db, { after: cursor, upTo, kind }, signal);
    cursor = Math.max(cursor, upTo);
    await untilNextPoll(clock, signal);
  }
}

async function untilNextPoll(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(POLL_MS, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
