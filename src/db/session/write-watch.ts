import type { Clock } from '../../lib/time/clock.ts';
import { MirrorError } from './errors.ts';
import type { Session } from './session.ts';

/** Whether this process's writes land in the mirror. */
export type WriteHealth = ReturnType<ReturnType<typeof watchWrites>['writes']>;

/** Watches the transactions of a session: a database may be readable while it cannot be written. */
export function watchWrites(session: Session, clock: Clock) {
  let open = 0;
  let pendingSince: number | null = null;
  let lastLandedAt: Date | null = null; // Null = none has landed yet.
  let fault: string | null = null; // The error of the last failed write since a write landed.

  /** Transactions queue up: one success means that the waiting transactions will succeed too. */
  const noteSuccess = (): void => {
    pendingSince = open > 0 ? clock.monotonicMs() : null;
    fault = null;
  };
  const atomically: Session['atomically'] = async (work) => {
    open++;
    pendingSince ??= clock.monotonicMs();
    try {
      const result = await session.atomically(work);
      open--;
      lastLandedAt = clock.now();
      noteSuccess();
      return result;
    } catch (error) {
      open--;
      if (error instanceof MirrorError) fault = error.message;
      else noteSuccess(); // The work itself threw: the database was reachable.
      throw error;
    }
  };
  return {
    session: { ...session, atomically },
    writes: () => ({
      /** Milliseconds since the oldest pending write began, its retries included; 0 if none is pending. */
      pendingMs: pendingSince === null ? 0 : clock.monotonicMs() - pendingSince,
      lastLandedAt,
      fault,
    }),
  };
}

/** Calls back once a transaction of this session has landed in which rows were appended to a table. */
export function watchInserts(session: Session, table: string, onCommitted: () => void): Session {
  return {
    ...session,
    atomically: async (work) => {
      let inserted = 0;
      const result = await session.atomically((tx) => {
        inserted = 0; // Work may run again from its start.
        return work({
          ...tx,
          insertRows: (rows) => {
            if (rows.table === table) inserted += 1;
            return tx.insertRows(rows);
          },
        });
      });
      if (inserted > 0) onCommitted();
      return result;
    },
  };
}
