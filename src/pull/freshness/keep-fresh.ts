import type { ListedKind } from '../../catalog/kind.ts';
import { changeBudget, type RequestBudget } from './request-budget.ts';
import { repeatTask } from '../../db/mirror-context.ts';
import { compactDirtyRows } from '../../store/sightings/page-store.ts';
import type { PullParts, ReadingRules } from '../parts.ts';
import { HOUR_MS, chooseRead } from './choose-read.ts';
import { MINUTE_MS, pauseTokens, takeToken, msUntilToken } from './token-bucket.ts';
import { UNREAD, type FollowedPage } from './followed-list.ts';
import { followLists } from './follow-lists.ts';
import { createSinglePageReader } from './read-single-page.ts';

export interface FreshnessRules {
  readonly kinds: readonly ListedKind[];
  /** The requests of all processes together between sweeps. */
  readonly requestsPerMinute: number;
  readonly baseUrl: string;
  readonly rules: ReadingRules;
}

/**
 * Reads pages between sweeps, on a budget that all processes share, until it is stopped: a request under way is then aborted, and
 * nothing of it lands. Returns the function that stops it.
 */
export function startFreshnessReads(parts: PullParts, rules: FreshnessRules): () => Promise<void> {
  const stop = new AbortController();
  const task = createFreshnessTask({ ...parts, signal: stop.signal }, rules);
  const reading = repeatTask(parts, 'reading between sweeps', 250, task);
  return () => {
    stop.abort();
    return reading.stop();
  };
}

/** With no list to read, or after a fault, the next look is made after this time. */
const IDLE_MS = 5_000;

/** Creates the task that reads all that the budget allows at the moment. */
export function createFreshnessTask(parts: PullParts, rules: FreshnessRules): () => Promise<void> {
  const { session, clock, signal } = parts;
  const { requestsPerMinute } = rules;
  const readNext = createBestPageReader(parts, rules);
  const updateBudget = (update: (shared: RequestBudget) => RequestBudget | null) =>
    changeBudget(session, clock.now(), update);
  let thinnedMs = -Infinity;
  let nextMs = -Infinity;

  /** Spends one token on the page that is worth most; where no request is made, it goes back. Returns the milliseconds to wait. */
  async function readNextPage(): Promise<number> {
    const nowMs = clock.now().getTime();
    const { budget, isChanged } = await updateBudget((shared) => takeToken(shared, requestsPerMinute, nowMs));
    if (!isChanged) return Math.max(1, msUntilToken(budget, requestsPerMinute, nowMs));
    const token = { isSpent: false };
    try {
      if (clock.monotonicMs() - thinnedMs >= HOUR_MS) {
        thinnedMs = clock.monotonicMs();
        await compactDirtyRows(session);
      }
      const end = await readNext(token);
      const holdMs =
        end?.is === 'failed' ? (end.waitMs ?? (end.reason === 'rate_limited' ? MINUTE_MS : null)) : null;
      const endMs = clock.now().getTime();
      if (holdMs !== null)
        await updateBudget((shared) => pauseTokens(shared, requestsPerMinute, endMs, holdMs));
      return end === null ? IDLE_MS : 0;
    } finally {
      if (!token.isSpent) await updateBudget((shared) => ({ ...shared, tokens: shared.tokens + 1 }));
    }
  }

  return async () => {
    while (signal?.aborted !== true && clock.monotonicMs() >= nextMs) {
      nextMs = clock.monotonicMs() + IDLE_MS; // Where the step fails.
      const waitMs = await readNextPage();
      nextMs = clock.monotonicMs() + waitMs;
    }
  };
}

/** Creates the reader of the page that is worth most; null = no list may be read. */
function createBestPageReader(parts: PullParts, rules: FreshnessRules) {
  const { session, clock, logger } = parts;
  const readLists = followLists(rules.kinds);
  const readSinglePage = createSinglePageReader(parts, rules);
  const pausedUntil = new Map<string, number>(); // Until when lists are left alone.
  const failedReads = new Map<string, Map<number, FollowedPage>>(); // To try counts as a reading.
  return async (token: { isSpent: boolean }) => {
    const now = clock.now();
    const lists = (await readLists(session, now)).map(({ list, isFree, ...readable }) => ({
      ...readable,
      isFree: isFree && (pausedUntil.get(list.kind) ?? 0) <= now.getTime(),
      list: { ...list, pages: new Map([...list.pages, ...(failedReads.get(list.kind) ?? [])]) },
    }));
    const next = chooseRead(lists, now.getTime());
    const kind = rules.kinds.find((kind) => kind.name === next?.kind);
    if (next === null || kind === undefined) return null;
    const end = await readSinglePage(kind, next.page, () => (token.isSpent = true));
    logger.debug({ ...next, ...end }, 'a page was read between sweeps');
    const endMs = clock.now().getTime();
    const failed = failedReads.get(kind.name) ?? new Map<number, FollowedPage>();
    if (end.is === 'landed') failed.delete(next.page);
    if (end.is === 'not begun') pausedUntil.set(kind.name, endMs + IDLE_MS);
    if (end.is === 'failed') {
      failedReads.set(kind.name, failed.set(next.page, { ...UNREAD, readMs: endMs }));
      pausedUntil.set(kind.name, endMs + Math.max(MINUTE_MS, end.waitMs ?? 0));
    }
    return end;
  };
}
