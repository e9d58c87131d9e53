import type { ListedKind } from '../../catalog/kind.ts';
import type { Requester } from '../http/requester.ts';
import { inOrder, pageLoader, pageResponse } from './load-page.ts';
import type { KnownPages, LoadOptions, LoadedPage } from './load-page.ts';
import type { ListPage } from './list-page.ts';
import { advance, reopenSweep, startSweep } from './sweep-plan.ts';
import type { SweepPlan, PageRange } from './sweep-plan.ts';
import { sameTexts } from '../../lib/text/text-list.ts';
import { refuseEndless, refuseUnlessLast, saysOther, learnFromFirst } from './page-checks.ts';
import type { PageResponse, ListEnd } from './page-checks.ts';

/** One response of a list: the page that it shows, its ticks, and its place in the list. */
export interface ListResponse extends ListPage {
  /** The page that it shows: the requested one, or an earlier one that came instead. */
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Rows on the page. */
  readonly rows: number;
  /** The proof of the list's end: at most this many rows after an empty page, else exactly this many. */
  readonly end: ListEnd | null;
  /** The plan of the sweep once it has taken this response. */
  readonly plan: SweepPlan;
}

export interface SweepOptions extends LoadOptions, KnownPages {
  /** Reads on until an empty page even if `meta` says that the list has ended: first sweep, verify. */
  readonly thorough: boolean;
  /** Pages of this list are known to have holes: a short one is not requested again. */
  readonly hasHoles?: boolean;
  /** Rows that the list had when it was last read, which tell where to look for its end. */
  readonly knownRows?: number;
  /** The most rows with which page 1 came again as page 2: it is not asked for again until the list is longer. */
  readonly wholeUpTo?: number;
  /** The plan of the last response of a sweep: its end is read again, alone, then the pages before it; never thorough. */
  readonly reopen?: SweepPlan | undefined;
}

/** Carries out the plan of a sweep: requests pages and yields each response in the plan's order. */
export async function* sweepList(
  requester: Requester,
  kind: ListedKind,
  options: SweepOptions,
): AsyncGenerator<ListResponse> {
  const { window, load, take } = pageLoader(requester, kind, options);
  const { thorough, hasHoles: sizesVary = false, knownRows = 0, wholeUpTo = 0 } = options;
  const start = { where: `GET ${kind.list.path}`, thorough, knownRows, wholeUpTo, sizesVary };
  let plan = options.reopen ? reopenSweep(options.reopen) : startSweep(start);
  while (plan.ask !== null) {
    for await (const loaded of inOrder(plan.ask, window, load)) {
      const before: SweepPlan = plan;
      const { page, after } = await take(loaded, (page, isLastAttempt) => {
        const known = isLastAttempt ? { ...before, sizesVary: true } : before;
        return { page, after: advance(known, pageResponse(page)) };
      });
      plan = after;
      yield listResponse(page, plan);
    }
  }
}

/**
 * Reads a range of pages, which proves nothing about the end of the list. The first is read alone: it shows how far pages may be
 * read side by side. Later ones are read one by one, up to an empty page or a repeated one.
 *
 * @throws {SourceError} If an answer is no list, or the list has no end.
 */
export async function* somePages(
  requester: Requester,
  kind: ListedKind,
  { from, to, ...options }: PageRange & LoadOptions & KnownPages,
): AsyncGenerator<ListResponse> {
  const { window, load, take } = pageLoader(requester, kind, options);
  // No page follows from this plan.
  const start = startSweep({ where: `GET ${kind.list.path}`, thorough: false, sizesVary: true });
  let plan: SweepPlan = { ...start, phase: 'done', ask: null };
  for (let next = from; next <= to; next = plan.latest.page + 1) {
    const range = { from: next, to: Math.min(to, Math.max(next, plan.lastPage ?? 0)) };
    for await (const loaded of inOrder(range, window, load)) {
      const known: SweepPlan = plan;
      const taken = await take(loaded, (page) => (isShownBefore(known, pageResponse(page)) ? null : page));
      if (taken === null) return;
      const response = pageResponse(taken);
      refuseEndless(plan);
      plan = {
        ...plan,
        ...(plan.answers === 0 && { first: response.keys, ...learnFromFirst(response) }), // Page 1 of the range.
        answers: plan.answers + 1,
        lastPage: response.meta.lastPage ?? plan.lastPage,
        shown: response.page,
        latest: response,
      };
      yield listResponse(taken, plan);
      if (response.keys.length === 0) return;
    }
  }
}

/** Whether an answer shows another page than the requested one, by its `meta` or by its records. */
function isShownBefore(plan: SweepPlan, response: PageResponse): boolean {
  const { page, keys } = response;
  if (page > 1 && saysOther(response)) return refuseUnlessLast(plan, response) < page;
  if (plan.answers === 0 || keys.length === 0) return false;
  return sameTexts(keys, plan.latest.keys) || sameTexts(keys, plan.first);
}

function listResponse({ sent, answered, value }: LoadedPage, plan: SweepPlan): ListResponse {
  return { sent, answered, rows: value.keys.length, ...value, page: plan.shown, end: plan.end, plan };
}
