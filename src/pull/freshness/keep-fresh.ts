import type { ListedKind } from '../../catalog/kind.ts';
import { createFaultLog } from '../../lib/log/fault-log.ts';
import { repeat } from '../../lib/log/repeat.ts';
import { changeBudget } from '../../mirror/kinds/request-budget.ts';
import { isAway } from '../../db/session/errors.ts';
import { thinDirtyRows } from '../../mirror/sightings/page-store.ts';
import type { PullParts, ReadingRules } from '../run/parts.ts';
import { chooseRead } from './choose-read.ts';
import type { ReadableList } from './choose-read.ts';
import { holdTokens, takeToken, untilToken } from './spend-budget.ts';
import { followLists } from './follow-lists.ts';
import type { Following, ListsNow } from './follow-lists.ts';
import { createBetweenReader } from './read-between.ts';
import type { BetweenEnd, ReadBetween } from './read-between.ts';

export interface FreshnessRules extends Pick<Following, 'sweepsOf'> {
  readonly kinds: readonly ListedKind[];
  /** The requests of all processes together between sweeps. */
  readonly requestsPerMinute: number;
  readonly baseUrl: string;
  readonly rules: ReadingRules;
}

const LOOK_MS = 250;

/**
 * Reads pages between sweeps, on a budget that all processes share, until it is stopped: a request under way is then aborted, and
 * nothing of it lands. Returns the function that stops it.
 */
export function startKeepingFresh(
  parts: Omit<PullParts, 'onProgress' | 'signal'>,
  rules: FreshnessRules,
): () => Promise<void> {
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
  /** When old notes of rewritten rows were removed last. */
  thinnedMs: number;
  /** Lists that are left alone until an instant, because they could not be read. */
  readonly rests: Map<string, { readonly untilMs: number; readonly failures: number }>;
  /** When pages could not be read, by list and page: others are read first. */
  readonly unread: Map<string, Map<number, number>>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** With no list to read, or after a fault, the next look is made after this time. */
const IDLE_MS = 5_000;

/** Creates the task that reads all that the budget allows at the moment. */
export function createFreshnessTask(parts: PullParts, rules: FreshnessRules): () => Promise<void> {
  const { clock, owner, signal } = parts;
  const keeping: Keeping = {
    parts,
    rules,
    listsNow: followLists({ ...rules, owner }),
    readBetween: createBetweenReader(parts, rules),
    thinnedMs: -Infinity,
    rests: new Map(),
    unread: new Map(),
  };
  let nextMs = -Infinity;
  return async () => {
    while (signal?.aborted !== true && clock.monotonicMs() >= nextMs) {
      nextMs = clock.monotonicMs() + IDLE_MS; // Where the step fails.
      const waitMs = await step(keeping);
      nextMs = clock.monotonicMs() + waitMs;
    }
  };
}

/** Spends one token on the page that is worth most; where no request is made, it goes back. Returns the milliseconds to wait. */
async function step(keeping: Keeping): Promise<number> {
  const waitMs = await takeRequest(keeping);
  if (waitMs > 0) return waitMs;
  const token = { isSpent: false };
  try {
    await thin(keeping);
    return await readNext(keeping, token);
  } finally {
    if (!token.isSpent) await changeShared(keeping, (shared) => ({ ...shared, tokens: shared.tokens + 1 }));
  }
}

/** Once an hour, removes old notes of rewritten rows. */
async function thin(keeping: Keeping): Promise<void> {
  const { clock, session } = keeping.parts;
  if (clock.monotonicMs() - keeping.thinnedMs < HOUR_MS) return;
  keeping.thinnedMs = clock.monotonicMs();
  await thinDirtyRows(session);
}

/** Takes a token from the shared budget. Returns the milliseconds until there is one; 0 = it is taken. */
async function takeRequest(keeping: Keeping): Promise<number> {
  const { requestsPerMinute } = keeping.rules;
  const nowMs = keeping.parts.clock.now().getTime();
  const { budget, isChanged } = await changeShared(keeping, (shared) =>
    takeToken(shared, requestsPerMinute, nowMs),
  );
  return isChanged ? 0 : Math.max(1, untilToken(budget, requestsPerMinute, nowMs));
}

const changeShared = (
  { parts: { session, clock } }: Keeping,
  change: Parameters<typeof changeBudget>[2],
): ReturnType<typeof changeBudget> => changeBudget(session, clock.now(), change);

/** @param token Spent as soon as a request leaves. */
async function readNext(keeping: Keeping, token: { isSpent: boolean }): Promise<number> {
  const { parts, rules, listsNow, readBetween, rests, unread } = keeping;
  const now = parts.clock.now();
  const lists = (await listsNow(parts.session, now)).map((readable) => withFailures(keeping, readable, now));
  const next = chooseRead(lists, now.getTime());
  const kind = rules.kinds.find(({ name }) => name === next?.kind);
  if (next === null || kind === undefined) return IDLE_MS;
  const onSend = (): void => {
    token.isSpent = true;
  };
  const end = await readBetween({ kind, page: next.page, onSend });
  parts.logger.debug({ ...next, ...end }, 'a page was read between sweeps');
  const endMs = parts.clock.now().getTime();
  if (end.is === 'landed') rests.delete(kind.name);
  if (end.is === 'not begun')
    rests.set(kind.name, { failures: 0, ...rests.get(kind.name), untilMs: endMs + IDLE_MS });
  if (end.is === 'failed') {
    unread.set(kind.name, new Map(unread.get(kind.name)).set(next.page, endMs));
    await rest(keeping, kind.name, end);
  }
  return 0;
}

/** A list that rests is not free; a page that could not be read counts as read then. */
function withFailures({ rests, unread }: Keeping, readable: ReadableList, now: Date): ReadableList {
  const { list } = readable;
  const isFree = readable.isFree && (rests.get(list.kind)?.untilMs ?? 0) <= now.getTime();
  const readMs = new Map(list.readMs);
  for (const [page, failedMs] of unread.get(list.kind) ?? [])
    readMs.set(page, Math.max(failedMs, readMs.get(page) ?? 0));
  return { ...readable, isFree, list: { ...list, readMs } };
}

const MOST_DOUBLED = 4;

/** Leaves a list that could not be read alone for a while; and all lists where the service asks for fewer requests. */
async function rest(
  keeping: Keeping,
  kind: string,
  end: Extract<BetweenEnd, { is: 'failed' }>,
): Promise<void> {
  const { parts, rules, rests } = keeping;
  const nowMs = parts.clock.now().getTime();
  const failures = (rests.get(kind)?.failures ?? 0) + 1;
  const pauseMs = MINUTE_MS * 2 ** Math.min(failures - 1, MOST_DOUBLED);
  rests.set(kind, { untilMs: nowMs + Math.max(pauseMs, end.waitMs ?? 0), failures });
  if (!end.isRefused && end.waitMs === null) return;
  await changeShared(keeping, (shared) =>
    holdTokens(shared, rules.requestsPerMinute, nowMs, end.waitMs ?? MINUTE_MS),
  );
}
