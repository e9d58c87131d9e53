import type { Kind } from '../catalog/kind.ts';
import { isListed } from '../catalog/kind.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { countLive } from '../mirror/kinds/status-store.ts';
import type { Queryable } from '../mirror/session/session.ts';

/** How many live rows each kind has. */
export interface RowCounts {
  /** @param standing Changes with every sweep that has ended and every event: rows are then counted again before the answer. */
  readonly read: (standing: string) => Promise<ReadonlyMap<string, number>>;
}

interface CountParts {
  readonly session: Queryable;
  readonly kinds: readonly Kind[];
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Rows land before their sweep has ended, too: a count is as good as new until then, and made again beside the answer. */
const FRESH_MS = 10_000;

/** Counts rows when something has changed: counting a million of them for each page would make each page wait. */
export function createRowCounts({ session, kinds, clock, logger }: CountParts): RowCounts {
  let known: {
    readonly counts: ReadonlyMap<string, number>;
    readonly of: string;
    readonly at: number;
  } | null = null;
  let counting: { readonly of: string; readonly counts: Promise<ReadonlyMap<string, number>> } | null = null;
  const countAll = async (standing: string): Promise<ReadonlyMap<string, number>> => {
    try {
      const counts = new Map<string, number>();
      for (const { name } of kinds.filter(isListed)) counts.set(name, await countLive(session, name));
      known = { counts, of: standing, at: clock.monotonicMs() };
      return counts;
    } finally {
      if (counting?.of === standing) counting = null;
    }
  };
  const count = (standing: string): Promise<ReadonlyMap<string, number>> => {
    if (counting?.of !== standing) counting = { of: standing, counts: countAll(standing) };
    return counting.counts;
  };
  return {
    read: async (standing) => {
      if (known?.of !== standing) return await count(standing);
      if (clock.monotonicMs() - known.at >= FRESH_MS)
        void count(standing).catch((error: unknown) => {
          logger.warn({ err: error }, 'the rows of the mirror could not be counted');
        });
      return known.counts;
    },
  };
}
