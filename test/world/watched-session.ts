import type { Session } from '../../src/db/session/session.ts';
import { steppedTransaction } from '../support/stepped-transaction.ts';
import type { Timeline } from './timeline.ts';

/** The process is gone. */
export class Killed extends Error {}

/** Counts down the operations that a process has left to live; null = it dies of old age. */
export interface Life {
  left: number | null;
  isOver: boolean;
  /** Has it stand still before some step, as a frozen process does; null = no more. */
  standStill: (() => Promise<void>) | null;
}

/** The same session: the timeline sees it at work, and at the end of its life every operation fails. */
export function watchedSession(session: Session, timeline: Timeline, life: Life): Session {
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    timeline.stir();
    if (life.left !== null && --life.left < 0) life.isOver = true;
    if (life.isOver) throw new Killed();
    return await work();
  };
  /** Not within a transaction, in which it would keep everybody else waiting. */
  const started = async <T>(work: () => Promise<T>): Promise<T> => {
    await life.standStill?.();
    return await step(work);
  };
  const occupied = <T>(work: () => Promise<T>): Promise<T> => {
    const leave = timeline.occupy();
    return work().finally(leave);
  };
  return {
    ...session,
    query: (statement) => started(() => occupied(() => session.query(statement))),
    makeDurable: () => step(() => occupied(() => session.makeDurable())),
    // It took 12 of 100 seconds, and changes no row.
    checkpoint: () => Promise.resolve(),
    atomically: (work) =>
      started(() =>
        occupied(() =>
          session.atomically(async (tx) => {
            const result = await work(steppedTransaction(tx, step));
            if (life.isOver) throw new Killed(); // Nothing is committed after the end.
            return result;
          }),
        ),
      ),
  };
}
