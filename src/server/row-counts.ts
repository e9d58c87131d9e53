import type { Kind } from '../catalog/kind.ts';
import { isListed } from '../catalog/kind.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { countLive } from '../mirror/kinds/status-store.ts';
import type { Queryable } from '../mirror/session/session.ts';

/** How many live rows each kind has. */
export interface RowCounts {
  readonly read: () => Promise<ReadonlyMap<string, number>>;
}

interface CountParts {
  readonly session: Queryable;
  readonly kinds: readonly Kind[];
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Until then a count is as good as new: a page that a person looks at is not exact to the second. */
const FRESH_MS = 10_000;

/** Counts rows beside the requests: counting a million of them would make each page wait. */
export function createRowCounts({ session, kinds, clock, logger }: CountParts): RowCounts {
  let known: ReadonlyMap<string, number> | null = null;
  let countedAt = 0;
  let counting: Promise<ReadonlyMap<string, number>> | null = null;
  const countAll = async (): Promise<ReadonlyMap<string, number>> => {
    try {
      const counts = new Map<string, number>();
      for (const { name } of kinds.filter(isListed)) counts.set(name, await countLive(session, name));
      countedAt = clock.monotonicMs();
      return (known = counts);
    } finally {
      counting = null;
    }
  };
  return {
    read: async () => {
      if (known !== null && clock.monotonicMs() - countedAt < FRESH_MS) return known;
      const now = (counting ??= countAll());
      if (known === null) return await now;
      void now.catch((error: unknown) => {
        logger.warn({ err: error }, 'the rows of the mirror could not be counted');
      });
      return known;
    },
  };
}
