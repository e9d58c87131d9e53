import type { ListedKind } from '../../catalog/kind.ts';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import { isBusy } from '../../mirror/kinds/kind-lease.ts';
import { openRuns } from '../../mirror/runs/open-runs.ts';
import type { Queryable } from '../../db/session/session.ts';
import { idsOf } from '../../mirror/sightings/page-store.ts';
import {
  readAwaitedKinds,
  readChangesSince,
  readPagesSince,
  readSweepPages,
  readWatchedKinds,
} from '../../mirror/sightings/sighting-store.ts';
import type { NotedChange, PageSighting, WatchedKind } from '../../mirror/sightings/sighting-store.ts';
import type { Owner } from '../run/parts.ts';
import { HISTORY_MS, countChanges } from './change-rates.ts';
import type { CountedChange } from './change-rates.ts';
import type { ReadableList } from './choose-read.ts';
import { observePage, watchList } from './watched-list.ts';
import type { PageReading, WatchedList } from './watched-list.ts';

export interface Following {
  readonly kinds: readonly ListedKind[];
  readonly owner: Owner;
  /** When the schedules read a kind's whole list; null = never. */
  readonly sweepsOf: (kind: string, now: Date) => { readonly nextMs: number } | null;
}

/** Reads what has landed since the last call, and gives the lists as they are known now. */
export type ListsNow = (db: Queryable, now: Date) => Promise<readonly ReadableList[]>;

/** A longer list is left to its schedules, and older events are not counted: both would take too long. */
const MOST_ROWS = 100_000;

interface Followed extends Pick<ReadableList, 'list' | 'history'> {
  /** The complete sweep that the list is from, and the tick up to which responses are counted. */
  readonly sweep: number;
  readonly tick: number;
  /** Rows that the last total of this sweep counts, and no page of it has shown. */
  readonly excess: number;
}

/**
 * Follows lists by what lands of them, whichever process has read it: the last complete sweep, the responses since then and the
 * change events. Nothing else is state, so that it outlasts a restart.
 */
export function followLists({ kinds, owner, sweepsOf }: Following): ListsNow {
  const followed = new Map<string, Followed | null>();
  const readEvents = createEventReader();
  return async (db, now) => {
    const eventsOf = await readEvents(db, now);
    const reading = await kindsBeingRead(db);
    const awaited = new Set(await readAwaitedKinds(db));
    const standings = new Map((await readWatchedKinds(db)).map((standing) => [standing.kind, standing]));
    const lists: ReadableList[] = [];
    for (const { name, list: declared } of kinds) {
      const standing = standings.get(name);
      if (standing === undefined) continue;
      const start = { order: declared.order, standing, events: eventsOf(name), now };
      const present = await follow(db, start, followed.get(name) ?? null);
      followed.set(name, present);
      if (present === null) continue;
      lists.push({
        list: present.list,
        history: present.history,
        isFree: standing.state !== 'running' && !reading.has(name) && !isHeld(standing, owner, now),
        isAwaited: awaited.has(name),
        nextSweepMs: sweepsOf(name, now)?.nextMs ?? null,
      });
    }
    return lists;
  };
}

/** Creates what reads the change events that have come since the last call, and gives those of a kind. */
function createEventReader() {
  let seq = 0;
  let recent: NotedChange[] = [];
  return async (db: Queryable, now: Date) => {
    const fresh = await readChangesSince(db, seq, MOST_ROWS);
    seq = fresh.at(-1)?.seq ?? seq;
    const from = instantText(new Date(now.getTime() - HISTORY_MS));
    if (fresh.length > 0) recent = [...recent, ...fresh].filter(({ observedAt }) => observedAt >= from);
    return (kind: string) => ({ recent: changesOf(kind, recent), fresh: changesOf(kind, fresh) });
  };
}

/** The changes that the service has made of a kind: our own writes are known without a reading. */
function changesOf(kind: string, notes: readonly NotedChange[]): CountedChange[] {
  return notes
    .filter((note) => note.kind === kind && note.origin === 'service')
    .map(({ change, recordId: id }) => ({ change, id }));
}

interface Beginning {
  readonly order: WatchedList['order'];
  readonly standing: WatchedKind;
  /** Those of the time that rates are taken from, and those of them that are new. */
  readonly events: { readonly recent: readonly CountedChange[]; readonly fresh: readonly CountedChange[] };
  readonly now: Date;
}

/** Brings what is known of a list up to date: a new one after every complete sweep, and the pages that were read since. */
async function follow(db: Queryable, start: Beginning, before: Followed | null): Promise<Followed | null> {
  const { standing, events } = start;
  const isSame = before !== null && before.sweep === standing.lastCompleteSweep;
  const known = isSame
    ? { ...before, history: countChanges(before.history, events.fresh) }
    : await begin(db, start, before);
  if (known === null || known.tick >= standing.tick) return known;
  const responses = await readPagesSince(db, standing.kind, known.tick);
  const list = responses.reduce((seen, response) => observePage(seen, readingOf(response)), known.list);
  return { ...known, list, tick: responses.at(-1)?.answered ?? known.tick };
}

/** Makes a list of its last complete sweep; null if it is too long to be followed. */
async function begin(db: Queryable, start: Beginning, before: Followed | null): Promise<Followed | null> {
  const { order, standing, events, now } = start;
  const { kind, baselineAt, pageSize, lastCompleteSweep } = standing;
  const sweep = lastCompleteSweep ?? 0;
  const responses = await readSweepPages(db, { kind, sweep, most: MOST_ROWS });
  if (responses === null) return null;
  const total = responses.findLast((response) => response.total !== null)?.total ?? null;
  const found = before?.list.found ?? { expected: 0, elsewhere: 0 };
  const pages = withoutRepeats(responses).map(readingOf);
  const list = watchList({ kind, order, total, found, hidden: 0 }, pages, pageSize);
  const excess = (total ?? list.ids.length) - list.ids.length;
  const baselineMs = baselineAt === null ? 0 : instantOf(baselineAt).getTime();
  const sinceMs = Math.max(now.getTime() - HISTORY_MS, baselineMs);
  return {
    sweep,
    tick: Math.max(sweep, ...responses.map(({ answered }) => answered)),
    excess,
    list: { ...list, hidden: excess === before?.excess ? excess : 0 }, // Else rows came or went during the sweep.
    history: countChanges({ sinceMs, created: 0, updated: new Map() }, events.recent),
  };
}

/** A page that was read twice is as it was the second time; a list that ignores the page, or repeats its last, has no more. */
function withoutRepeats(responses: readonly PageSighting[]): PageSighting[] {
  const firsts = new Map<string, number>();
  for (const { page, ids } of responses) firsts.set(ids, Math.min(page, firsts.get(ids) ?? page));
  const latest = new Map(
    responses.filter(({ page, ids }) => firsts.get(ids) === page).map((one) => [one.page, one]),
  );
  return [...latest.values()];
}

const readingOf = ({ page, ids, total, seenAt }: PageSighting): PageReading => ({
  page,
  ids: [...idsOf(ids)],
  total,
  atMs: instantOf(seenAt).getTime(),
});

/** The kinds that some run reads, or is about to read. */
async function kindsBeingRead(db: Queryable): Promise<ReadonlySet<string>> {
  const runs = (await openRuns(db)).filter(
    ({ command, isAskedFor, isRunning }) => isAskedFor && (isRunning || command !== 'verify'),
  );
  return new Set(runs.flatMap(({ kinds }) => kinds));
}

/** Whether another process has the list now, for a sweep or a reading. */
function isHeld(standing: WatchedKind, { name, isDead }: Owner, now: Date): boolean {
  const isOwn = standing.owner === name && standing.leaseYields !== null;
  return !isOwn && isBusy(standing, { now, isDead });
}
