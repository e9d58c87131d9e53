import type { Spans } from './spans.ts';

/** The evidence of list responses about records that none of them has shown since a tick. */
export interface Unseen {
  /** The tick at which the last response that showed the record was sent; null where none did. */
  readonly lastShown: (id: string) => number | null;
  /** Ids that were shown until then, and not since. */
  readonly ids: () => string[];
  /** How many ids were shown since. */
  readonly shown: number;
}

/**
 * Finds the records that no response sent after a tick has shown.
 *
 * A response under way at that tick counts as one from before it: its content may be older.
 */
export function unseenSince({ ids, lastSent }: Spans, tick: number): Unseen {
  let shown = 0;
  for (let index = 0; index < ids.size(); index++) if (lastSent(index) > tick) shown++;
  return {
    lastShown: (id) => {
      const last = lastSent(ids.find(id));
      return last === -Infinity ? null : last;
    },
    ids: () => {
      const unseen: string[] = [];
      for (let index = 0; index < ids.size(); index++)
        if (lastSent(index) <= tick) unseen.push(ids.idOf(index));
      return unseen;
    },
    shown,
  };
}
