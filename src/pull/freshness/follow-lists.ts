import type { ListedKind } from '../../catalog/kind.ts';
import { instantOf } from '../../lib/time/clock.ts';
import { isBusy } from '../../mirror/kinds/kind-lease.ts';
import { openRuns } from '../../mirror/runs/open-runs.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import { idsOf } from '../../mirror/sightings/page-store.ts';
import {
  readAwaitedKinds,
  readPagesSince,
  readSweepPages,
  readSweepsAsked,
  readWatchedKinds,
  readChangesSince,
} from '../../mirror/sightings/watched-store.ts';
import type { PageSighting, WatchedKind, NotedChange } from '../../mirror/sightings/watched-store.ts';
import type { Owner } from '../run/parts.ts';
import type { ReadableList } from './choose-read.ts';
import { countChanges, startHistory, withoutRestless } from './change-rates.ts';
import type { CountedChange, ChangeHistory, ChangeStreaks } from './change-rates.ts';
import { observePage } from './observe-page.ts';
import type { PageReading } from './observe-page.ts';
import { countFound, NOTHING_LEARNT, watchList, frameOf } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

export interface Following {
  readonly kinds: readonly ListedKind[];
  readonly owner: Owner;
  /** When the schedules read a kind's whole list; null = never. */
  readonly sweepsOf: (kind: string, now: Date) => ReadableList['sweeps'];
}

/** Reads what has landed since the last call, and gives the lists as they are known now. */
export type ListsNow = (db: Queryable, now: Date) => Promise<readonly ReadableList[]>;

/** A longer list is left to its schedules: each change of its frame would hold this process up. */
const MOST_ROWS = 100_000;
const DAY_MS = 86_400_000;

interface Followed {
  /** The complete sweep that the frame is from, and the tick up to which responses are counted. */
  readonly sweep: number;
  readonly tick: number;
  /** Rows that the last total of this sweep counts, and no page of it has shown. */
  readonly excess: number;
  /** Null: the list is too long. */
  readonly list: WatchedList | null;
}

/**
 * Follows lists by what lands of them, whichever process has read it: the last complete sweep, the responses since then and the
 * change events. Nothing else is state, so that it outlasts a restart.
 */
export function followLists({ kinds, owner, sweepsOf }: Following): ListsNow {
  const followed = new Map<string, Followed>();
  const changes = createCountedChanges();
  const orders = new Map(kinds.map(({ name, list }) => [name, list.order]));
  return async (db, now) => {
    const found = await changes.read(db);
    const standings = (await readWatchedKinds(db)).filter(({ kind }) => orders.has(kind));
    const [reading, asked] = [await kindsBeingRead(db), await readSweepsAsked(db)];
    const awaited = new Set(await readAwaitedKinds(db));
    const lists: ReadableList[] = [];
    for (const standing of standings) {
      const { kind } = standing;
      const start = { order: orders.get(kind) ?? 'unknown', standing, changes, now } as const;
      const present = await follow(db, start, { before: followed.get(kind), found: found.get(kind) ?? [] });
      followed.set(kind, present);
      if (present.list === null) continue;
      const isFree = standing.state !== 'running' && !reading.has(kind) && !isHeld(standing, owner, now);
      const askedMs = msOf(asked.get(kind) ?? null);
      const sweeps = sweepsOf(kind, now);
      lists.push({ list: present.list, isFree, isAwaited: awaited.has(kind), sweeps, askedMs });
    }
    return lists;
  };
}

interface Known {
  readonly before: Followed | undefined;
  /** The changes that have been noted since. */
  readonly found: readonly CountedChange[];
}

/** Brings what is known of a list up to date. */
async function follow(db: Queryable, start: Beginning, { before, found }: Known): Promise<Followed> {
  const { standing, now } = start;
  const counted = before && { ...before, list: before.list && countFound(before.list, found) };
  const after =
    counted === undefined || isOutdated(counted, standing, now) ? await begin(db, start, counted) : counted;
  return after.tick < standing.tick ? await observe(db, standing.kind, after) : after;
}

/** A new frame after every complete sweep, and a shorter history once a day where none comes. */
function isOutdated({ sweep, list }: Followed, { lastCompleteSweep }: WatchedKind, now: Date): boolean {
  if (sweep !== lastCompleteSweep) return true;
  return list !== null && now.getTime() - list.history.sinceMs > 3 * DAY_MS;
}

interface Beginning {
  readonly order: WatchedList['order'];
  readonly standing: WatchedKind;
  readonly changes: CountedChanges;
  readonly now: Date;
}

/** Makes the frame of a list from its last complete sweep. */
async function begin(
  db: Queryable,
  { order, standing, changes, now }: Beginning,
  before: Followed | undefined,
): Promise<Followed> {
  const { kind, lastCompleteSweep, baselineAt, pageSize } = standing;
  const sweep = lastCompleteSweep ?? 0;
  const responses = await readSweepPages(db, { kind, sweep, most: MOST_ROWS });
  if (responses === null) return { sweep, tick: Infinity, excess: 0, list: null };
  const pages = new Map(withoutRepeats(responses).map((response) => [response.page, readingOf(response)]));
  const lastPage = Math.max(0, ...pages.keys());
  const frame = frameOf([...pages.values()], pageSize);
  const total = lastTotal(responses);
  const excess = (total ?? frame.ids.length) - frame.ids.length;
  const { newPlaces, streaks } = before?.list ?? NOTHING_LEARNT;
  const list = watchList({
    ...{ kind, order, frame, newPlaces, streaks },
    neverShown: excess === before?.excess ? excess : 0, // Else rows came or went during the sweep.
    readMs: Array.from({ length: lastPage }, (_, index) => pages.get(index + 1)?.atMs ?? 0),
    hasTotal: total !== null,
    history: changes.historyOf(kind, { sinceMs: msOf(baselineAt) ?? 0, nowMs: now.getTime(), streaks }),
  });
  return { sweep, tick: Math.max(sweep, ...responses.map(({ answered }) => answered)), excess, list };
}

const lastTotal = (responses: readonly PageSighting[]): number | null =>
  responses.findLast(({ total }) => total !== null)?.total ?? null;

const msOf = (instant: string | null): number | null =>
  instant === null ? null : instantOf(instant).getTime();

/** A list that ignores the page, or shows its last one again, is no longer for it. */
function withoutRepeats(responses: readonly PageSighting[]): PageSighting[] {
  const pages = new Map<string, number>();
  for (const { page, ids } of responses) pages.set(ids, Math.min(page, pages.get(ids) ?? page));
  return responses.filter(({ page, ids }) => pages.get(ids) === page);
}

/** Adds the pages that were read since. */
async function observe(db: Queryable, kind: string, before: Followed): Promise<Followed> {
  if (before.list === null) return before;
  const responses = await readPagesSince(db, kind, before.tick);
  const list = responses.reduce((known, response) => observePage(known, readingOf(response)), before.list);
  return { ...before, list, tick: responses.at(-1)?.answered ?? before.tick };
}

const readingOf = ({ page, ids, total, seenAt }: PageSighting): PageReading => ({
  ...{ page, ids: [...idsOf(ids)], total, atMs: instantOf(seenAt).getTime() },
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

/** The latest change events, by kind, as rates are counted from them. */
interface CountedChanges {
  /** Reads the events that have come since the last call; returns them by kind. */
  readonly read: (db: Queryable) => Promise<ReadonlyMap<string, readonly CountedChange[]>>;
  /** The history of a kind whose changes are events since an instant. */
  readonly historyOf: (kind: string, span: HistorySpan) => ChangeHistory;
}

interface HistorySpan {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** By these, records are restless, and their updates do not count. */
  readonly streaks: ChangeStreaks;
}

/** A longer history tells no more: an event weighs half after half a day. */
const KEPT_MS = 2 * 86_400_000;
const MOST_EVENTS = 50_000;

function createCountedChanges(): CountedChanges {
  const kept = new Map<string, CountedChange[]>();
  let [seq, fromMs] = [0, 0];
  return {
    read: async (db) => {
      const notes = await readChangesSince(db, seq, MOST_EVENTS);
      const isCut = notes.length === MOST_EVENTS; // Earlier events are not known.
      if (isCut) fromMs = instantOf(notes[0]?.observedAt ?? '').getTime();
      seq = notes.at(-1)?.seq ?? seq;
      const fresh = byKind(notes);
      for (const [kind, changes] of fresh) kept.set(kind, lately([...(kept.get(kind) ?? []), ...changes]));
      return fresh;
    },
    historyOf: (kind, { sinceMs, nowMs, streaks }) => {
      const from = Math.max(sinceMs, fromMs, nowMs - KEPT_MS);
      const recent = (kept.get(kind) ?? []).filter(({ atMs }) => atMs >= from);
      kept.set(kind, recent);
      return countChanges(startHistory(from), withoutRestless(recent, streaks));
    },
  };
}

/** Without those that are older than a history. */
function lately(changes: readonly CountedChange[]): CountedChange[] {
  const oldest = (changes.at(-1)?.atMs ?? 0) - KEPT_MS;
  return changes.filter(({ atMs }) => atMs >= oldest);
}

function byKind(notes: readonly NotedChange[]): Map<string, CountedChange[]> {
  const changes = new Map<string, CountedChange[]>();
  for (const { kind, change, recordId: id, observedAt, origin } of notes) {
    if (origin !== 'service') continue; // Our own writes are known without a reading.
    const counted = { change: change === 'restored' ? 'created' : change, id } as const;
    const ofKind = changes.get(kind) ?? [];
    ofKind.push({ ...counted, atMs: instantOf(observedAt).getTime() });
    changes.set(kind, ofKind);
  }
  return changes;
}
