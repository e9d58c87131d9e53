import type { ListedKind } from '../../catalog/kind.ts';
import { createFaultLog } from '../../lib/log/fault-log.ts';
import { repeat } from '../../lib/log/repeat.ts';
import { changeBudget } from '../../mirror/kinds/request-budget.ts';
import { requestPull } from '../../mirror/runs/run-requests.ts';
import { isAway } from '../../mirror/session/errors.ts';
import { thinDirtyRows } from '../../mirror/sightings/page-store.ts';
import { noteSweepAsked, saveUnseenAges, thinReadings } from '../../mirror/sightings/watched-store.ts';
import type { PullParts, ReadingRules } from '../run/parts.ts';
import { chooseRead } from './choose-read.ts';
import type { NextRead, ReadableList } from './choose-read.ts';
import { rateAt, slowDown, takeToken, untilToken, chooseSweep } from './spend-budget.ts';
import type { NextSweep } from './spend-budget.ts';
import { followLists } from './follow-lists.ts';
import type { Following, ListsNow } from './follow-lists.ts';
import { createBetweenReader } from './read-between.ts';
import type { BetweenEnd, ReadBetween } from './read-between.ts';
import { unseenAges } from './unseen-ages.ts';

export interface FreshnessRules extends Pick<Following, 'sweepsOf'> {
  readonly kinds: readonly ListedKind[];
  /** The requests of all processes together between sweeps. */
  readonly requestsPerMinute: number;
  readonly baseUrl: string;
  readonly rules: ReadingRules;
}

type Parts = Omit<PullParts, 'onProgress' | 'signal'>;

const LOOK_MS = 250;

/**
 * Reads pages between sweeps, on a budget that all processes share, until it is stopped: a request under way is then aborted, and
 * nothing of it lands. Returns the function that stops it.
 */
export function startKeepingFresh(parts: Parts, rules: FreshnessRules): () => Promise<void> {
  const { clock, logger } = parts;
  const stop = new AbortController();
  const faults = createFaultLog({ clock, logger, isTold: isAway });
  const task = createFreshnessTask({ ...parts, signal: stop.signal }, rules);
  const reading = repeat({ clock, faults, everyMs: LOOK_MS, name: 'reading between sweeps', task });
  return () => {
    stop.abort();
    return reading.stop();
  };
}

interface Keeping {
  readonly parts: PullParts;
  readonly rules: FreshnessRules;
  readonly listsNow: ListsNow;
  readonly readBetween: ReadBetween;
  /** Lists that are left alone until an instant, because they could not be read. */
  readonly rests: Map<string, Rest>;
  /** When pages could not be read, by list: others are read first. */
  readonly unread: Map<string, Map<number, number>>;
}

interface Paying extends Keeping {
  /** Set as soon as a request leaves. */
  readonly token: { isSpent: boolean };
}

interface Rest {
  readonly untilMs: number;
  /** Readings that failed in a row. */
  readonly failures: number;
}

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
/** With no list to read, or after a fault, the next look is made after this time. */
const IDLE_MS = 5_000;

/** Creates the task that reads all that the budget allows at the moment. */
export function createFreshnessTask(parts: PullParts, rules: FreshnessRules): () => Promise<void> {
  const { clock, owner, signal } = parts;
  const keeping: Keeping = {
    ...{ parts, rules, rests: new Map(), unread: new Map() },
    listsNow: followLists({ ...rules, owner }),
    readBetween: createBetweenReader(parts, rules),
  };
  const upkeep = createUpkeep(keeping);
  let nextMs = -Infinity;
  return async () => {
    while (signal?.aborted !== true && clock.monotonicMs() >= nextMs) {
      nextMs = clock.monotonicMs() + IDLE_MS; // Where the step fails.
      const waitMs = await step(keeping, upkeep);
      nextMs = clock.monotonicMs() + waitMs;
    }
  };
}

/** Spends one token on what is worth most; where it fails before a request was made, the token goes back. */
async function step(keeping: Keeping, upkeep: Upkeep): Promise<number> {
  const now = keeping.parts.clock.now();
  const { waitMs, perMinute } = await takeRequest(keeping, now);
  if (waitMs > 0) return waitMs;
  const token = { isSpent: false };
  try {
    return await spend({ ...keeping, token }, upkeep, { perMinute, now });
  } catch (error) {
    if (!token.isSpent) await charge(keeping, -1, now);
    throw error;
  }
}

interface Spending {
  readonly perMinute: number;
  readonly now: Date;
}

/** Spends a token that was taken. Returns the milliseconds until the next step. */
async function spend(keeping: Paying, upkeep: Upkeep, { perMinute, now }: Spending): Promise<number> {
  const { parts, rules, listsNow } = keeping;
  const known = await listsNow(parts.session, now);
  await upkeep(known, now);
  const lists = known.map((readable) => withFailures(keeping, readable, now));
  const sweep = chooseSweep(lists, { perMinute, nowMs: now.getTime() });
  if (sweep !== null) return askForSweep(keeping, sweep, now);
  const next = chooseRead(lists, now.getTime());
  const kind = rules.kinds.find(({ name }) => name === next?.kind);
  if (next === null || kind === undefined) return giveBack(keeping, now);
  return read(keeping, { kind, next });
}

/** A list that rests is not free; a page that could not be read counts as read then. */
function withFailures({ rests, unread }: Keeping, readable: ReadableList, now: Date): ReadableList {
  const { list } = readable;
  const isFree = readable.isFree && (rests.get(list.kind)?.untilMs ?? 0) <= now.getTime();
  const failed = unread.get(list.kind);
  if (failed === undefined) return { ...readable, isFree };
  const readMs = list.readMs.map((readAt, index) => Math.max(readAt, failed.get(index + 1) ?? 0));
  return { ...readable, isFree, list: { ...list, readMs } };
}

interface TakenRequest {
  /** The milliseconds until there is a token; 0 = it is taken. */
  readonly waitMs: number;
  /** The requests in a minute that are allowed now. */
  readonly perMinute: number;
}

/** Takes a token from the shared budget. */
async function takeRequest({ parts, rules }: Keeping, now: Date): Promise<TakenRequest> {
  const { requestsPerMinute } = rules;
  const nowMs = now.getTime();
  const { budget, isChanged } = await changeBudget(parts.session, now, (shared) => {
    const taken = takeToken(shared, rateAt(shared, requestsPerMinute, nowMs), nowMs);
    return taken && { ...shared, ...taken };
  });
  const perMinute = rateAt(budget, requestsPerMinute, nowMs);
  return { perMinute, waitMs: isChanged ? 0 : Math.max(1, untilToken(budget, perMinute, nowMs)) };
}

/** Nothing was requested: the token goes back. */
async function giveBack(keeping: Paying, now: Date): Promise<number> {
  keeping.token.isSpent = true; // Else a fault would give it back twice.
  await charge(keeping, -1, now);
  return IDLE_MS;
}

/** Takes more tokens, on credit if need be, or gives some back (below 0). */
async function charge({ parts }: Keeping, tokens: number, now: Date): Promise<void> {
  await changeBudget(parts.session, now, (shared) => ({ ...shared, tokens: shared.tokens - tokens }));
}

/** Brings the next sweep of a list forward, at the cost of its pages. */
async function askForSweep(keeping: Paying, { kind, pages }: NextSweep, now: Date): Promise<number> {
  const { session, logger } = keeping.parts;
  const wanted = { kinds: [kind], request: 'rows came or went', now };
  const runId = await session.atomically(async (tx) => {
    await noteSweepAsked(tx, kind, now);
    return requestPull(tx, wanted);
  });
  keeping.token.isSpent = true;
  await charge(keeping, pages - 1, now);
  logger.debug({ kind, pages, runId }, 'a sweep is brought forward: rows came or went');
  return 0;
}

interface Reading {
  readonly kind: ListedKind;
  readonly next: NextRead;
}

async function read(keeping: Paying, { kind, next }: Reading): Promise<number> {
  const { parts, readBetween, token } = keeping;
  const onSend = (): void => {
    token.isSpent = true;
  };
  const end = await readBetween({ kind, page: next.page, onSend });
  const now = parts.clock.now();
  parts.logger.debug({ ...next, ...end }, 'a page was read between sweeps');
  if (end.is === 'landed') keeping.rests.delete(kind.name);
  if (end.is === 'failed') {
    const failed = keeping.unread.get(kind.name) ?? new Map<number, number>();
    keeping.unread.set(kind.name, failed.set(next.page, now.getTime()));
    await rest(keeping, kind.name, { end, now });
  }
  if (end.is !== 'not begun') return 0;
  const untilMs = now.getTime() + IDLE_MS;
  keeping.rests.set(kind.name, { untilMs, failures: keeping.rests.get(kind.name)?.failures ?? 0 });
  await giveBack(keeping, now);
  return 1;
}

interface Failure {
  readonly end: Extract<BetweenEnd, { is: 'failed' }>;
  readonly now: Date;
}

const MOST_DOUBLED = 4;

/** Leaves a list that could not be read alone for a while; slows all processes down if the service asks for it. */
async function rest({ parts, rules, rests }: Keeping, kind: string, { end, now }: Failure): Promise<void> {
  const failures = (rests.get(kind)?.failures ?? 0) + 1;
  const pauseMs = MINUTE_MS * 2 ** Math.min(failures - 1, MOST_DOUBLED);
  rests.set(kind, { untilMs: now.getTime() + Math.max(pauseMs, end.waitMs ?? 0), failures });
  if (!end.isRefused && end.waitMs === null) return;
  const refusal = { perMinute: rules.requestsPerMinute, nowMs: now.getTime(), waitMs: end.waitMs };
  await changeBudget(parts.session, now, (shared) => slowDown(shared, refusal));
}

type Upkeep = (lists: readonly ReadableList[], now: Date) => Promise<void>;

/** Creates what notes once a minute how old the unseen is expected to be, and removes old readings once an hour. */
function createUpkeep({ parts: { session }, rules: { kinds } }: Keeping): Upkeep {
  let [notedMs, thinnedMs] = [-Infinity, -Infinity];
  return async (lists, now) => {
    const nowMs = now.getTime();
    if (Math.abs(nowMs - notedMs) >= MINUTE_MS) {
      notedMs = nowMs;
      await saveUnseenAges(
        session,
        new Map(lists.map(({ list }) => [list.kind, unseenAges(list, nowMs)])),
        now,
      );
    }
    if (Math.abs(nowMs - thinnedMs) < HOUR_MS) return;
    thinnedMs = nowMs;
    for (const { name } of kinds) await thinReadings(session, name, new Date(nowMs - DAY_MS));
    await thinDirtyRows(session);
  };
}
