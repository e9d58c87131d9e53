import type { ListedKind } from '../../catalog/kind.ts';
import { untilItsTurn } from '../../lib/read-ahead.ts';
import { createSerialQueue } from '../../lib/serial-queue.ts';
import { NO_META } from '../http/read-answer.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import type { AnswerWithTicks, ReadRequest, Requester } from '../http/requester.ts';
import {
  allowMissing,
  unchangedPageReader,
  pageReader,
  withoutExcludedFields,
  type KnownPage,
  type ListPage,
} from './list-page.ts';
import type { PageResponse } from './page-checks.ts';
import type { ReceivedAnswer } from '../http/http.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { SourceError, type SourceReason } from '../http/errors.ts';
import { createPageSizer } from './page-size.ts';
import type { PageRange } from './walk-steps.ts';

export interface LoadOptions {
  /** The next tick of the kind's counter: called when a request is sent and when its answer has arrived. */
  readonly tick?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asks for each page by one request, which nothing repeats. */
  readonly once?: true | undefined;
  /** Part of every page's hash: hashes are comparable only within one scope. Without it no hash is made. */
  readonly rulesDigest?: string | undefined;
  /** The pages as last landed, by number: one that shows the same bytes again is not parsed. */
  readonly knownPages?: ReadonlyMap<number, KnownPage> | undefined;
}

export interface LoadedPage extends AnswerWithTicks<ListPage> {
  readonly page: number;
}

/** A page that could not be read, although others may be. */
export interface FailedPage {
  readonly page: number;
  readonly fault: SourceError;
}

export const isFailed = (loaded: object): loaded is FailedPage => 'fault' in loaded;

/** Pages requested ahead of the landing one, per concurrent request: the network must not be idle while a page lands. */
const PREFETCH = 1.5;

export type PageLoader = ReturnType<typeof createPageLoader>;

/** Creates the loader of a list's pages, which are of one size once the first has been answered. */
export function createPageLoader(requester: Requester, kind: ListedKind, options: LoadOptions) {
  const { once = false } = options;
  const sizer = createPageSizer(kind, requester.pageSizes);
  const createRequest = createPageRequests(kind, options, sizer.size);
  const sweep = { hasAnswered: false, awaySinceMs: null };
  const signals = [options.signal, requester.closing];
  const failedPage = (page: number, fault: unknown): FailedPage => {
    if (once || !(fault instanceof SourceError && isOfPage(fault, page))) throw fault;
    return { page, fault };
  };
  return {
    window: { width: Math.ceil(PREFETCH * requester.concurrency), signals },
    /** Asks for a page by one request, whose answer only shows that there is one. @throws {SourceError} */
    check: async (page: number): Promise<void> => {
      const scope = createDeadline(null, signals);
      await requester.requestOnce(createRequest(page, scope.signal)).finally(scope.release);
    },
    /** Loads a page; ends soon after its signal fires. @throws {SourceError} Where no other page would fare better. */
    load: async (page: number, signal: AbortSignal): Promise<LoadedPage | FailedPage> => {
      for (;;) {
        const about = createRequest(page, signal);
        try {
          const answered = await (once || sizer.isTrial()
            ? requester.requestOnce(about)
            : requester.repeat(about, (number) => requester.requestOnce(about, number), sweep));
          sizer.settle();
          return { page, ...answered };
        } catch (fault) {
          const isHalved = page === 1 && !once && fault instanceof SourceError && sizer.halve(fault);
          if (!isHalved) return failedPage(page, fault);
        }
      }
    },
    /** Takes a page among the others; loads it again if `take` finds it garbled, up to `maxAttempts`: the last one is as it is. */
    take: async <T>(
      loaded: LoadedPage | FailedPage,
      take: (loaded: LoadedPage, isLastAttempt: boolean) => T,
    ): Promise<T | FailedPage> => {
      if (isFailed(loaded)) return loaded;
      const most = once ? 1 : requester.maxAttempts;
      try {
        return take(loaded, most === 1); // Mostly the only attempt.
      } catch (refused) {
        if (once) throw refused;
        const { page } = loaded;
        const scope = createDeadline(null, signals);
        const about = createRequest(page, scope.signal);
        const attempt = async (number: number) => {
          if (number === 1) throw refused;
          return take({ page, ...(await requester.requestOnce(about, number)) }, number >= most);
        };
        const taken = requester.repeat(about, attempt, sweep).finally(scope.release);
        return await taken.catch((fault: unknown) => failedPage(page, fault));
      }
    },
  };
}

/** Faults that no other page would escape, or that show how the whole list answers. */
const OF_THE_LIST: readonly SourceReason[] = [
  'unauthorized',
  'forbidden',
  'redirected',
  'rate_limited',
  'interrupted',
  'endless',
  'empty_pages',
  'page_ignored',
];
/** On page 1 they point to the address, the token or the network. */
const OF_THE_SERVICE: readonly SourceReason[] = [
  'not_found',
  'blocked',
  'rejected',
  'unreachable',
  'too_big',
];

/** Whether other pages may be read although this one cannot. A service that asks to wait means all of them. */
function isOfPage(fault: SourceError, page: number): boolean {
  const { reason } = fault;
  const isAskedToWait = (fault.passing?.waitMs ?? null) !== null;
  return !isAskedToWait && !OF_THE_LIST.includes(reason) && !(page === 1 && OF_THE_SERVICE.includes(reason));
}

/** Creates the requests for the pages of a list, with the reading of their answers. */
function createPageRequests(
  kind: ListedKind,
  options: LoadOptions,
  size: () => number,
): (page: number, signal: AbortSignal) => ReadRequest<ListPage> {
  const { path, header } = kind.list;
  const oneByOne = createSerialQueue(); // Each in a turn of the event loop of its own.
  return (page, signal) => {
    const known = options.rulesDigest === undefined ? undefined : options.knownPages?.get(page);
    const hint = { rulesDigest: options.rulesDigest, known };
    const readUnparsed = unchangedPageReader(hint);
    const readAll = pageReader(hint);
    const readParsed = (answer: ReceivedAnswer): ListPage => withoutExcludedFields(kind, readAll(answer));
    const readPage = (answer: ReceivedAnswer): ListPage | Promise<ListPage> => {
      if (known === undefined) return readParsed(answer);
      const unchanged = readUnparsed(answer);
      if (unchanged !== null) return withoutExcludedFields(kind, unchanged);
      return oneByOne(async () => {
        await ownEventLoopTurn(); // Serve arrived pages first: that frees their slot for the next request.
        return answer.withRedactedErrors(() => readParsed(answer));
      });
    };
    const read = page === 1 ? readPage : allowMissing(readPage);
    const about = { kind: kind.name, path, query: pageQuery(kind, page, size()), page, header };
    return { ...about, read, tick: options.tick, signal };
  };
}

/** A loaded page as a walk compares it. */
export function pageResponse(loadedPage: LoadedPage): PageResponse {
  const { keys, meta, hasNext, missing } = loadedPage.value;
  return { page: loadedPage.page, keys, meta: meta ?? NO_META, hasNext, missing };
}

/** The query for a page (§8); a list without documented parameters is asked bare first. */
export function pageQuery(kind: ListedKind, page: number, size: number): string {
  if (kind.list.paging === 'documented') return `?page=${page}&per_page=${size}`;
  return page === 1 ? '' : `?page=${page}`;
}

/**
 * Loads pages side by side and hands them out in page order.
 *
 * The window is refilled before a page is handed out, so that the network is busy while the page lands. When the
 * consumer stops or a page fails, requests under way are aborted and awaited.
 * @param prefetch `width`: the number of pages under way or waiting to be handed out.
 * @param load Must end soon after its signal fires; that signal fires with the caller's too.
 */
export async function* loadInOrder<T>(
  range: PageRange,
  prefetch: PageLoader['window'],
  load: (page: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const stop = new AbortController();
  const scope = createDeadline(null, [stop.signal, ...prefetch.signals]);
  const window: Promise<T>[] = [];
  let next = range.from;
  const refill = (): void => {
    while (window.length < prefetch.width && next <= range.to)
      window.push(untilItsTurn(load(next++, scope.signal)));
  };
  try {
    refill();
    for (let turn = window.shift(); turn; turn = window.shift()) {
      const loaded = await turn;
      refill();
      yield loaded;
    }
  } finally {
    stop.abort();
    scope.release();
    await Promise.allSettled(window);
  }
}
