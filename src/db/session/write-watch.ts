import type { Clock } from '../../lib/time/clock.ts';
import { MirrorError } from './errors.ts';
import type { Session } from './session.ts';

/** Tells whether this process's writes land in the mirror. */
export interface WriteStanding {
  /** Milliseconds since the oldest pending write began, its retries included; 0 if none is pending. */
  readonly unlandedMs: number;
  /** When a write last landed; null = none has yet. */
  readonly lastLandedAt: Date | null;
  /** The error of the last failed write since a write landed; null = none has failed. */
  readonly fault: string | null;
}

/** Watches the transactions of a session: a database may be readable while it cannot be written. */
export function watchWrites(session: Session, clock: Clock) {
  let open = 0;
  let unlandedSince: number | null = null;
  let lastLandedAt: Date | null = null;
  let fault: string | null = null;

  /** Transactions queue up: if one has landed, the waiting ones will follow. */
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
      else noteAnswer(); // The work itself threw: the database was reachable.
      throw error;
    }
  };
  return {
    session: { ...session, atomically },
    writes: (): WriteStanding => ({
      unlandedMs: unlandedSince === null ? 0 : clock.monotonicMs() - unlandedSince,
      lastLandedAt,
      fault,
    }),
  };
}

/** Calls back once a transaction of this session has landed in which rows were appended to a table. */
export function watchAppends(session: Session, table: string, onLanded: () => void): Session {
  return {
    ...session,
    atomically: async (work) => {
      let appended = 0;
      const result = await session.atomically((tx) => {
        appended = 0; // Work may run again from its start.
        return work({
          ...tx,
          append: (rows) => {
            if (rows.table === table) appended += 1;
            return tx.append(rows);
          },
        });
      });
      if (appended > 0) onLanded();
      return result;
    },
  };
}
