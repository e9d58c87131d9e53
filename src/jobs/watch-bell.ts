import type { Logger } from '../lib/logger.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { Bell } from './bell.ts';
import { STEADY, feelPulse } from './heartbeat.ts';

export interface WatchParts {
  readonly bell: Bell;
  readonly logger: Logger;
  /** Called once, when the bell is past all cure. */
  readonly onDead: (error: SyncError) => void;
}

/** Makes what sends a heartbeat and does what it asks for: nothing, a new worker, or giving up. */
export function createBellWatch({ bell, logger, onDead }: WatchParts): () => Promise<void> {
  let pulse = STEADY;
  let state: 'new' | 'watching' | 'dead' = 'new';
  return async () => {
    if (state === 'new') {
      state = 'watching'; // The bell has only just been made: its first beat is for the next time.
      return;
    }
    if (state === 'dead') return;
    const beat = await bell.beat();
    const felt = feelPulse(pulse, beat);
    pulse = felt.pulse;
    if (felt.cure === 'restart') {
      logger.warn(
        { beat, missed: pulse.missed },
        'heartbeats through the queue are missing: a new worker takes over',
      );
      await bell.restart();
    }
    if (felt.cure === 'give up') {
      state = 'dead';
      onDead(queueDead(pulse.missed));
    }
  };
}

function queueDead(missed: number): SyncError {
  return new SyncError(`The queue took ${missed} heartbeats and gave none of them back.`, {
    code: 'jobs.queue_dead',
    hint: 'Start the process again; if that does not help, see whether the queue is paused or its store out of memory.',
  });
}
