import type { ListedKind } from '../../catalog/kind.ts';
import type { Requester } from '../http/requester.ts';
import {
  loadInOrder,
  isFailed,
  createPageLoader,
  pageResponse,
  type LoadOptions,
  type LoadedPage,
  type PageLoader,
} from './page-loader.ts';
import type { ListPage } from './list-page.ts';
import { nextStep, reopenWalk, startWalk } from './page-walk.ts';
import { walkEnds, type PageRange, type PageWalk } from './walk-steps.ts';
import {
  lastClaimedPage,
  refuseEndless,
  refuseMissing,
  refuseUnlessLast,
  sameTexts,
  isOtherPage,
  derivePaging,
  type PageResponse,
  type ListEnd,
} from './page-checks.ts';
import { trackUnreadPages } from './unread-pages.ts';

/** One response of a list: the page that it shows, its ticks, and its place in the list. */
export interface ListResponse extends ListPage {
  /** The page that it shows: the requested one, or an earlier one that came instead. */
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  readonly rows: number;
  /** The proof of the list's end: at most this many rows after an empty page, else exactly this many. */
  readonly end: ListEnd | null;
  /** The walk through the list after this response. */
  readonly walk: PageWalk;
}

export interface SweepOptions extends LoadOptions {
  /** Reads on until an empty page even if `meta` says that the list has ended: first sweep, verify. */
  readonly thorough: boolean;
  /** Pages of this list are known to have holes: a short one is not requested again. */
  readonly hasHoles?: boolean;
  /** Rows that the list had when it was last read, which show where its end may be. */
  readonly knownRows?: number;
  /** The longest page 1 that was repeated as page 2; page 2 is skipped until the list is longer. */
  readonly maxWholeRows?: number;
  /** The walk after the last response of a sweep: its end is read again, alone, then the pages before it; never thorough. */
  readonly reopenFrom?: PageWalk | undefined;
}

/**
 * Walks through a list: requests pages and yields each response in their order. After an unreadable page it continues
 * without a walk; such a sweep proves nothing.
 * @throws {SourceError} Where the list cannot be read; `page_unread` after all other pages.
 */
export async function* readSweep(
  requester: Requester,
  kind: ListedKind,
  options: SweepOptions,
): AsyncGenerator<ListResponse> {
  const loader = createPageLoader(requester, kind, options);
  const { thorough, hasHoles: sizesVary = false, knownRows = 0, maxWholeRows = 0 } = options;
  const where = `GET ${kind.list.path}`;
  const start = startWalk({ where, thorough, knownRows, maxWholeRows, sizesVary });
  const walk = options.reopenFrom ? reopenWalk(options.reopenFrom) : start;
  const stopped = yield* walkPages(loader, walk);
  if (stopped === null) return;
  const { failed, before } = stopped;
  const from = before.step.phase === 'open' ? 2 : failed.page + 1;
  const latest = before.latest.keys.length > 0 ? before.latest : before.top;
  const unread = trackUnreadPages(loader, kind, failed);
  yield* readRemaining(loader, { ...before, latest }, { from, to: Infinity }, unread);
}

/** Carries out a walk up to a page that cannot be read; returns that page with the walk before it, or null at the end. */
async function* walkPages(loader: PageLoader, start: PageWalk) {
  let walk = start;
  while (walk.step.ask !== null) {
    for await (const loaded of loadInOrder(walk.step.ask, loader.window, loader.load)) {
      const before: PageWalk = walk;
      const taken = await loader.take(loaded, (page, isLastAttempt) => {
        const tolerant = isLastAttempt ? { ...before, sizesVary: true } : before;
        return { page, after: nextStep(tolerant, pageResponse(page)) };
      });
      if (isFailed(taken)) return { failed: taken, before };
      walk = taken.after;
      yield listResponse(taken.page, walk);
    }
  }
  return null;
}

/**
 * Reads a range of pages, which proves nothing about the end of the list. The first is read alone: it shows how far pages may be
 * read side by side. Later ones are read one by one, up to an empty page or a repeated one.
 * @throws {SourceError} If a response is not a list, or the list has no end; `page_unread` after all other pages.
 */
export function readPageRange(
  requester: Requester,
  kind: ListedKind,
  { from, to, ...options }: PageRange & LoadOptions,
): AsyncGenerator<ListResponse> {
  const loader = createPageLoader(requester, kind, options);
  const start = startWalk({ where: `GET ${kind.list.path}`, thorough: false, sizesVary: true });
  return readRemaining(loader, start, { from, to }, trackUnreadPages(loader, kind));
}

/** Reads pages one after the other, and continues after unreadable ones. */
async function* readRemaining(
  loader: PageLoader,
  start: PageWalk,
  pageRange: PageRange,
  unread: ReturnType<typeof trackUnreadPages>,
): AsyncGenerator<ListResponse> {
  let walk = walkEnds({ ...start, end: null });
  let range = pageRange;
  let isOver = false;
  while (!isOver && range.from <= range.to && (await unread.canContinue(walk, range.from))) {
    const most = Math.min(range.to, Math.max(range.from, lastClaimedPage(walk)));
    for await (const loaded of loadInOrder({ from: range.from, to: most }, loader.window, unread.load)) {
      const before: PageWalk = walk;
      const taken = await loader.take(loaded, (page) => ({
        page,
        after: advanceUnplanned(before, pageResponse(page)),
      }));
      if (isFailed(taken)) unread.noteFault(taken);
      else if (taken.after === null) isOver = true;
      else {
        unread.noteSuccess();
        walk = taken.after;
        yield listResponse(taken.page, walk);
      }
      range = { from: loaded.page + 1, to: range.to };
      isOver ||= hasEnded(walk);
      if (isOver || unread.isDoubtful(walk)) break;
    }
  }
  await unread.end(walk);
}

const hasEnded = (walk: PageWalk): boolean => walk.answers > 0 && walk.latest.keys.length === 0;

/** Adds a page; null if an earlier page came instead of it, by its `meta` or by its records. */
function advanceUnplanned(walk: PageWalk, response: PageResponse): PageWalk | null {
  const { answers, first, latest } = walk;
  const { page, keys } = response;
  if (page > 1 && isOtherPage(response)) {
    refuseUnlessLast(walk, response);
    return null;
  }
  const isLatest = page !== latest.page && sameTexts(keys, latest.keys);
  if (answers > 0 && keys.length > 0 && (isLatest || sameTexts(keys, first))) return null;
  refuseEndless(walk);
  refuseMissing(walk, response);
  return {
    ...walk,
    ...(answers === 0 && { first: keys, ...derivePaging(response) }), // Page 1 of the range.
    answers: answers + 1,
    lastPage: response.meta.lastPage ?? walk.lastPage,
    shown: page,
    latest: response,
  };
}

function listResponse(page: LoadedPage, walk: PageWalk): ListResponse {
  return {
    sent: page.sent,
    answered: page.answered,
    rows: page.value.keys.length,
    ...page.value,
    page: walk.shown,
    end: walk.end,
    walk,
  };
}
