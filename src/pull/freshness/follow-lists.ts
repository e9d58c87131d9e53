import type { ListOrder, ListedKind } from '../../catalog/kind.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { openRuns } from '../../store/runs/open-runs.ts';
import type { Queryable } from '../../db/session/session.ts';
import {
  readAwaitedKinds,
  readChangesSince,
  readPagesSince,
  readSweepRows,
  readWatchedKinds,
  type NotedChange,
  type WatchedKind,
} from '../../store/sightings/sighting-store.ts';
import { HISTORY_MS, type ReadableList } from './choose-read.ts';
import { addResponses, beginList, type FollowedList } from './followed-list.ts';

/** A longer list is left to its schedules, and older events are not counted: both would take too long. */
const MAX_ROWS = 100_000;

interface Followed {
  readonly sweep: number | null;
  /** Null = it is too long. */
  readonly list: FollowedList | null;
}

/**
 * Follows lists by what lands of them, whichever process has read it: the last complete sweep, the responses since then and the
 * change events. Nothing else is state, so that it outlasts a restart. Each call gives the lists as they are known then.
 */
export function followLists(kinds: readonly ListedKind[]) {
  const followed = new Map<string, Followed>();
  let seq = 0;
  let recent: readonly NotedChange[] = [];
  let changes = new Map<string, NotedChange[]>();
  return async (db: Queryable, now: Date): Promise<readonly ReadableList[]> => {
    const newChanges = await readChangesSince(db, seq, MAX_ROWS);
    seq = newChanges.at(-1)?.seq ?? seq;
    const from = formatInstant(new Date(now.getTime() - HISTORY_MS));
    if (newChanges.length > 0) {
      recent = [...recent, ...newChanges].filter((change) => change.observedAt >= from);
      changes = Map.groupBy(recent, (change) => change.kind);
    }
    const reading = await readBusyKinds(db);
    const awaited = await readAwaitedKinds(db);
    const lists: ReadableList[] = [];
    for (const watched of await readWatchedKinds(db)) {
      const { kind, lastCompleteSweep: sweep } = watched;
      const order = kinds.find(({ name }) => name === kind)?.list.order;
      if (order === undefined) continue;
      const before = followed.get(kind);
      const events = changes.get(kind) ?? [];
      const list =
        before?.sweep === sweep
          ? before.list && addResponses(before.list, await readPagesSince(db, kind, before.list.tick), events)
          : await begin(db, watched, order, events);
      followed.set(kind, { sweep, list });
      if (list === null) continue;
      lists.push({ list, isFree: !reading.has(kind), isAwaited: awaited.includes(kind) });
    }
    return lists;
  };
}

/** Begins to follow a list by its last complete sweep, unless it is too long. */
async function begin(db: Queryable, watched: WatchedKind, order: ListOrder, changes: readonly NotedChange[]) {
  const { kind, lastCompleteSweep: sweep } = watched;
  const isTooLong = ((await readSweepRows(db, kind, sweep ?? 0)) ?? 0) > MAX_ROWS;
  return isTooLong ? null : beginList(watched, order, await readPagesSince(db, kind, sweep ?? 0), changes);
}

/** The kinds that some run reads, or is about to. */
async function readBusyKinds(db: Queryable): Promise<ReadonlySet<string>> {
  const runs = (await openRuns(db)).filter(
    (run) => run.isRequested && (run.isRunning || run.command !== 'verify'),
  );
  return new Set(runs.flatMap((run) => run.kinds));
}
