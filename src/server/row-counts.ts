import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { countLive, countLiveUpTo } from '../mirror/kinds/status-store.ts';
import type { KindFreshness } from '../mirror/kinds/status-store.ts';
import type { Queryable } from '../mirror/session/session.ts';

type Counted = Pick<KindFreshness, 'kind' | 'last_sweep_at' | 'last_change_at'>;

/** How many live rows each kind has. */
export interface RowCounts {
  /** Counts small kinds anew where a sweep has ended or an event was found. A large kind is absent until it was counted once. */
  readonly read: (kinds: readonly Counted[]) => Promise<ReadonlyMap<string, number>>;
}

interface CountParts {
  readonly session: Queryable;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Kinds with more rows are counted beside the requests. */
  readonly most?: number;
}

interface Known {
  readonly rows: number;
  /** Differs once a sweep has ended, or an event was found. */
  readonly standing: string;
  readonly at: number;
}

/** Rows land before their sweep has ended, too, and large kinds change all day: a count is as good as new until then. */
const FRESH_MS = 10_000;

/** So many rows are counted within some milliseconds; a million take a page's whole time, or longer. */
const MOST = 20_000;

export function createRowCounts({ session, clock, logger, most = MOST }: CountParts): RowCounts {
  const known = new Map<string, Known>();
  const counting = new Set<string>();
  const note = (kind: string, standing: string, rows: number): void => {
    known.set(kind, { rows, standing, at: clock.monotonicMs() });
  };
  const countBeside = (kind: string, standing: string): void => {
    counting.add(kind);
    yieldToEventLoop() // SQLite answers at once: the request would wait.
      .then(() => countLive(session, kind))
      .then((rows) => {
        note(kind, standing, rows);
      })
      .catch((error: unknown) => {
        logger.warn({ err: error, kind }, 'the rows of a kind could not be counted');
      })
      .finally(() => counting.delete(kind));
  };
  const refresh = async (kind: string, standing: string): Promise<void> => {
    if (counting.has(kind)) return;
    const before = known.get(kind);
    if (before !== undefined && isGood(before, standing)) return;
    if (before !== undefined && (before.rows > most || before.standing === standing)) {
      countBeside(kind, standing);
      return;
    }
    const few = await countLiveUpTo(session, kind, most + 1);
    if (few <= most) note(kind, standing, few);
    else countBeside(kind, standing);
  };
  const isGood = ({ rows, standing, at }: Known, present: string): boolean =>
    clock.monotonicMs() - at < FRESH_MS && (rows > most || standing === present);
  return {
    read: async (kinds) => {
      for (const { kind, last_sweep_at: sweptAt, last_change_at: changedAt } of kinds)
        await refresh(kind, `${sweptAt ?? ''} ${changedAt ?? ''}`);
      return new Map([...known].map(([kind, { rows }]) => [kind, rows]));
    },
  };
}
