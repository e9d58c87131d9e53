import type { ListedKind } from '../../catalog/kind.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import { openRuns } from '../../store/runs/open-runs.ts';
import type { Queryable } from '../../db/session/session.ts';
import { parseIds } from '../../diff/page-ids.ts';
import {
  readAwaitedKinds,
  readChangesSince,
  readPagesSince,
  readSweepPages,
  readWatchedKinds,
  type NotedChange,
  type PageSighting,
  type WatchedKind,
} from '../../store/sightings/sighting-store.ts';
import { HISTORY_MS, countChanges, type ChangeHistory, type ReadableList } from './choose-read.ts';
import { observePage, watchList, type PageReading, type WatchedList } from './watched-list.ts';

/** A longer list is left to its schedules, and older events are not counted: both would take too long. */
const MAX_ROWS = 100_000;

interface FollowedList {
  readonly list: WatchedList;
  readonly history: ChangeHistory;
  /** The complete sweep that the list is from, and the tick up to which responses are counted. */
  readonly sweep: number | null;
  readonly tick: number;
}

/**
 * Follows lists by what lands of them, whichever process has read it: the last complete sweep, the responses since then and the
 * change events. Nothing else is state, so that it outlasts a restart. Each call gives the lists as they are known then.
 */
export function followLists(kinds: readonly ListedKind[]) {
  const followed = new Map<string, FollowedList | null>();
  let seq = 0;
  let recent: NotedChange[] = [];
  return async (db: Queryable, now: Date): Promise<readonly ReadableList[]> => {
    const newChanges = await readChangesSince(db, seq, MAX_ROWS);
    seq = newChanges.at(-1)?.seq ?? seq;
    const from = formatInstant(new Date(now.getTime() - HISTORY_MS));
    if (newChanges.length > 0)
      recent = [...recent, ...newChanges].filter((change) => change.observedAt >= from);
    // Some run reads them, or is about to.
    const runs = (await openRuns(db)).filter(
      (run) => run.isRequested && (run.isRunning || run.command !== 'verify'),
    );
    const reading = new Set(runs.flatMap((run) => run.kinds));
    const awaited = await readAwaitedKinds(db);
    const standings = new Map((await readWatchedKinds(db)).map((standing) => [standing.kind, standing]));
    const lists: ReadableList[] = [];
    for (const { name, list: declared } of kinds) {
      const standing = standings.get(name);
      if (standing === undefined) continue;
      let known = followed.get(name) ?? null;
      known =
        known?.sweep === standing.lastCompleteSweep
          ? { ...known, history: countKindChanges(name, newChanges, known.history) }
          : await startFollowing(db, declared.order, standing, countKindChanges(name, recent));
      if (known !== null && known.tick < standing.tick) known = await addNewPages(db, known);
      followed.set(name, known);
      if (known === null) continue;
      const { list, history } = known;
      lists.push({ list, history, isFree: !reading.has(name), isAwaited: awaited.includes(name) });
    }
    return lists;
  };
}

/** Counts the changes that the service has made of a kind: our own writes are known without a reading. */
const countKindChanges = (
  kind: string,
  notes: readonly NotedChange[],
  before: ChangeHistory = { created: 0, updated: new Map() },
): ChangeHistory =>
  countChanges(
    before,
    notes.filter((note) => note.kind === kind && note.origin === 'service'),
  );

/** Begins to follow a list from its last complete sweep; null if it is too long. */
async function startFollowing(
  db: Queryable,
  order: WatchedList['order'],
  watchedKind: WatchedKind,
  history: ChangeHistory,
): Promise<FollowedList | null> {
  const { kind, pageSize, lastCompleteSweep: sweep } = watchedKind;
  const responses = await readSweepPages(db, kind, sweep ?? 0, MAX_ROWS);
  if (responses === null) return null;
  const total = responses.findLast((response) => response.total !== null)?.total ?? null;
  // A page that was read twice is as it was the second time; a list that ignores the page, or repeats its last, has no more.
  const firsts = new Map<string, number>();
  for (const { page, ids } of responses) firsts.set(ids, Math.min(page, firsts.get(ids) ?? page));
  const shown = responses.filter((response) => firsts.get(response.ids) === response.page);
  const pages = new Map(shown.map((response) => [response.page, toPageReading(response)]));
  const list = watchList({ kind, order, total }, [...pages.values()], pageSize);
  return { sweep, tick: responses.at(-1)?.answered ?? sweep ?? 0, list, history };
}

async function addNewPages(db: Queryable, known: FollowedList): Promise<FollowedList> {
  const responses = await readPagesSince(db, known.list.kind, known.tick);
  const list = responses.reduce((seen, response) => observePage(seen, toPageReading(response)), known.list);
  return { ...known, list, tick: responses.at(-1)?.answered ?? known.tick };
}

const toPageReading = (sighting: PageSighting): PageReading => ({
  page: sighting.page,
  ids: parseIds(sighting.ids),
  total: sighting.total,
  atMs: parseInstant(sighting.seenAt).getTime(),
});
