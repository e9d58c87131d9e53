import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { countLive, countLiveUpTo } from '../mirror/kinds/status-store.ts';
import type { KindFreshness } from '../mirror/kinds/status-store.ts';
import type { Queryable } from '../mirror/session/session.ts';

type Counted = Pick<KindFreshness, 'kind' | 'last_sweep_at' | 'last_change_at'>;

/** How many live rows each kind has. */
export interface RowCounts {
  /** Counts small kinds again where a sweep has ended or an event was found. A large kind is absent until it was counted once. */
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
  const countBeside = async (kind: string, standing: string): Promise<void> => {
    if (counting.has(kind)) return;
    counting.add(kind);
    try {
      await yieldToEventLoop(); // SQLite answers at once: the request would wait.
      note(kind, standing, await countLive(session, kind));
    } catch (error) {
      logger.warn({ err: error, kind }, 'the rows of a kind could not be counted');
    } finally {
      counting.delete(kind);
    }
  };
  return {
    read: async (kinds) => {
      const few = new Map<string, string>();
      for (const { kind, last_sweep_at: sweptAt, last_change_at: changedAt } of kinds) {
        const standing = `${sweptAt ?? ''} ${changedAt ?? ''}`;
        const when = counting.has(kind)
          ? 'later'
          : whenToCount(known.get(kind), standing, { now: clock.monotonicMs(), most });
        if (when === 'now') few.set(kind, standing);
        if (when === 'beside') void countBeside(kind, standing);
      }
      for (const [kind, rows] of await countLiveUpTo(session, [...few.keys()], most + 1)) {
        const standing = few.get(kind) ?? '';
        if (rows <= most) note(kind, standing, rows);
        else void countBeside(kind, standing);
      }
      return new Map([...known].map(([kind, { rows }]) => [kind, rows]));
    },
  };
}

/** Whether a kind is counted before the answer or beside it; later, where its count is as good as new. */
function whenToCount(
  known: Known | undefined,
  standing: string,
  { now, most }: { readonly now: number; readonly most: number },
): 'now' | 'beside' | 'later' {
  if (known === undefined) return 'now';
  const isLasting = known.rows > most || known.standing === standing;
  if (!isLasting) return 'now';
  return now - known.at < FRESH_MS ? 'later' : 'beside';
}
