import type { ListedKind } from '../../catalog/kind.ts';
import { createQueue } from '../../lib/queue.ts';
import { NO_META } from '../http/read-answer.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import type { Answered, Question, Requester } from '../http/requester.ts';
import { orMissing, readKnown, readPage, withoutExcludedFields } from './list-page.ts';
import type { KnownPage, ListPage } from './list-page.ts';
import type { PageResponse } from './page-checks.ts';
import type { Received } from '../http/http.ts';
import { ownTurn } from '../../lib/time/own-turn.ts';
import type { PageRange } from './sweep-plan.ts';

export interface LoadOptions {
  /** The next tick of the kind's counter: called when a request is sent and when its answer has arrived. */
  readonly tick: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Asks for each page by one request, which nothing repeats. */
  readonly once?: true | undefined;
}

/** The pages as last landed: a page that shows the same bytes again is not parsed. */
export interface KnownPages {
  /** Part of every digest: digests are comparable only within one scope. Without it no digest is made. */
  readonly digestScope?: string | undefined;
  /** By number. */
  readonly knownPages?: ReadonlyMap<number, KnownPage> | undefined;
}

export interface LoadedPage extends Answered<ListPage> {
  readonly page: number;
}

/** Pages requested ahead of the landing one, per concurrent request: the network must not be idle while a page lands. */
const PREFETCH = 1.5;

/** Creates the loader of a list's pages. */
export function pageLoader(
  requester: Requester,
  kind: ListedKind,
  { tick, digestScope, knownPages, ...options }: LoadOptions & KnownPages,
) {
  const { path, header } = kind.list;
  const oneByOne = createQueue(); // Each in a turn of the event loop of its own.
  const questionFor = (page: number, signal: AbortSignal): Question<ListPage> => {
    const known = digestScope === undefined ? undefined : knownPages?.get(page);
    const hint = { digestScope, known };
    const readUnparsed = page === 1 ? readKnown(hint) : orMissing(readKnown(hint));
    const readAll = page === 1 ? readPage(hint) : orMissing(readPage(hint));
    const readParsed = (answer: Received): ListPage => {
      const page = readAll(answer);
      return withoutExcludedFields(kind, page);
    };
    const read = (answer: Received): ListPage | Promise<ListPage> => {
      if (known === undefined) return readParsed(answer);
      const page = readUnparsed(answer);
      if (page !== null) return withoutExcludedFields(kind, page);
      return oneByOne(async () => {
        await ownTurn(); // Serve arrived pages first: that frees their slot for the next request.
        return answer.withRedactedErrors(() => readParsed(answer));
      });
    };
    return { path, query: pageQuery(kind, page), page, header, read, tick, signal };
  };
  const signals = [options.signal, requester.closing];
  return {
    window: { width: Math.ceil(PREFETCH * requester.concurrency), signals },
    /** Loads a page; ends soon after its signal fires. */
    load: async (page: number, signal: AbortSignal): Promise<LoadedPage> => {
      const question = questionFor(page, signal);
      return { page, ...(await (options.once ? requester.askOnce(question) : requester.ask(question))) };
    },
    /** Takes a page among the others; loads it again if `take` finds it garbled, up to `maxAttempts`: the last one is as it is. */
    take: async <T>(
      loaded: LoadedPage,
      take: (loaded: LoadedPage, isLastAttempt: boolean) => T,
    ): Promise<T> => {
      const most = options.once ? 1 : requester.maxAttempts;
      try {
        return take(loaded, most === 1); // Mostly the only attempt.
      } catch (refused) {
        if (options.once) throw refused;
        const { page } = loaded;
        const scope = createDeadline(null, signals);
        const question = questionFor(page, scope.signal);
        const attempt = async (number: number) => {
          if (number === 1) throw refused;
          return take({ page, ...(await requester.askOnce(question, number)) }, number >= most);
        };
        return await requester.repeat(question, attempt).finally(scope.release);
      }
    },
  };
}

/** A loaded page as the plans compare it. */
export function pageResponse({ page, value }: LoadedPage): PageResponse {
  const { keys, meta, hasNext, missing } = value;
  return { page, keys, meta: meta ?? NO_META, hasNext, missing };
}

/** The query for a page (§8); a list without documented parameters is asked bare first. */
export function pageQuery({ list }: ListedKind, page: number): string {
  if (list.paging === 'documented') return `?page=${page}&per_page=100`;
  return page === 1 ? '' : `?page=${page}`;
}

/**
 * Loads pages side by side and hands them out in page order.
 *
 * The window is refilled before a page is handed out, so that the network is busy while the page lands. When the
 * consumer stops or a page fails, requests under way are aborted and awaited.
 *
 * @param window `width`: the number of pages under way or waiting to be handed out.
 * @param load Must end soon after its signal fires; that signal fires with the caller's too.
 */
export async function* inOrder<T>(
  { from, to }: PageRange,
  { width, signals }: ReturnType<typeof pageLoader>['window'],
  load: (page: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const stop = new AbortController();
  const scope = createDeadline(null, [stop.signal, ...signals]);
  // Settled results: a page that fails before its turn must not be an unhandled rejection.
  const window: Promise<PromiseSettledResult<T>[]>[] = [];
  let next = from;
  const refill = (): void => {
    while (window.length < width && next <= to) window.push(Promise.allSettled([load(next++, scope.signal)]));
  };
  try {
    refill();
    for (let turn = window.shift(); turn; turn = window.shift()) {
      const [result] = await turn;
      if (result?.status === 'rejected') throw result.reason;
      refill();
      if (result) yield result.value;
    }
  } finally {
    stop.abort();
    scope.release();
    await Promise.all(window);
  }
}
