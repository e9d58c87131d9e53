import type { Clock } from '../../lib/clock.ts';
import { MirrorError } from './errors.ts';
import type { Session } from './session.ts';

/** Whether what this process writes lands in the mirror. */
export interface WriteStanding {
  /** How long the oldest write that has not landed has waited, or been tried again and again; 0 where none has. */
  readonly unlandedMs: number;
  /** When a write landed last; null = none has yet. */
  readonly lastLandedAt: Date | null;
  /** How the last write that failed did so, since one has landed; null = none has. */
  readonly fault: string | null;
}

export interface WatchedSession {
  readonly session: Session;
  readonly writes: () => WriteStanding;
}

/** Watches the transactions of a session: a database may be read as ever while nothing can be written to it. */
export function watchWrites(session: Session, clock: Clock): WatchedSession {
  let open = 0;
  let unlandedSince: number | null = null;
  let lastLandedAt: Date | null = null;
  let fault: string | null = null;

  /** Transactions queue up, so that one that landed shows that the others are about to. */
  const noteAnswer = (): void => {
    unlandedSince = open > 0 ? clock.monotonicMs() : null;
    fault = null;
  };
  const atomically: Session['atomically'] = async (work) => {
    open++;
    unlandedSince ??= clock.monotonicMs();
    try {
      const result = await session.atomically(work);
      open--;
      lastLandedAt = clock.now();
      noteAnswer();
      return result;
    } catch (error) {
      open--;
      if (error instanceof MirrorError) fault = error.message;
      else noteAnswer(); // The work itself changed its mind: the database was there to hear of it.
      throw error;
    }
  };
  return {
    session: { ...session, atomically },
    writes: () => ({
      unlandedMs: unlandedSince === null ? 0 : clock.monotonicMs() - unlandedSince,
      lastLandedAt,
      fault,
    }),
  };
}
