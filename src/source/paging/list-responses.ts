import type { ListedKind } from '../../catalog/kind.ts';
import type { Requester } from '../http/requester.ts';
import {
  inOrder,
  pageLoader,
  pageResponse,
  type KnownPages,
  type LoadOptions,
  type LoadedPage,
  type PageLoader,
} from './load-page.ts';
import type { ListPage } from './list-page.ts';
import { isFailed } from './page-faults.ts';
import { advance, reopenSweep, startSweep, type SweepPlan, type PageRange } from './sweep-plan.ts';
import { sameTexts } from '../../lib/text/text-list.ts';
import {
  refuseEndless,
  refuseUnlessLast,
  saysOther,
  learnFromFirst,
  type PageResponse,
  type ListEnd,
} from './page-checks.ts';
import { createUnread, lastNamed } from './unread-pages.ts';

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

/**
 * Carries out the plan of a sweep: requests pages and yields each response in the plan's order. Past a page that cannot be read it
 * reads on, without a plan: such a sweep proves nothing.
 *
 * @throws {SourceError} Where the list cannot be read; `page_unread` after all other pages.
 */
export async function* sweepList(
  requester: Requester,
  kind: ListedKind,
  options: SweepOptions,
): AsyncGenerator<ListResponse> {
  const loader = pageLoader(requester, kind, options);
  const { thorough, hasHoles: sizesVary = false, knownRows = 0, wholeUpTo = 0 } = options;
  const start = startSweep({ where: `GET ${kind.list.path}`, thorough, knownRows, wholeUpTo, sizesVary });
  let plan = options.reopen ? reopenSweep(options.reopen) : start;
  for (;;) {
    const stopped = yield* carryOut(loader, plan);
    if (stopped === null) return;
    plan = start;
    const { failed, before } = stopped;
    if (loader.halve(failed.fault) > 1) continue;
    const from = before.phase === 'open' ? 2 : failed.page + 1;
    yield* readOn(loader, before, { from, to: Infinity }, createUnread(loader, kind, failed));
    return;
  }
}

/** Carries out a plan up to a page that cannot be read; returns that page with the plan before it, or null at the end. */
async function* carryOut(loader: PageLoader, start: SweepPlan) {
  let plan = start;
  while (plan.ask !== null) {
    for await (const loaded of inOrder(plan.ask, loader.window, loader.load)) {
      const before: SweepPlan = plan;
      const taken = await loader.take(loaded, (page, isLastAttempt) => {
        const known = isLastAttempt ? { ...before, sizesVary: true } : before;
        return { page, after: advance(known, pageResponse(page)) };
      });
      if (isFailed(taken)) return { failed: taken, before };
      plan = taken.after;
      yield listResponse(taken.page, plan);
    }
  }
  return null;
}

/**
 * Reads a range of pages, which proves nothing about the end of the list. The first is read alone: it shows how far pages may be
 * read side by side. Later ones are read one by one, up to an empty page or a repeated one.
 *
 * @throws {SourceError} If an answer is no list, or the list has no end; `page_unread` after all other pages.
 */
export function somePages(
  requester: Requester,
  kind: ListedKind,
  { from, to, ...options }: PageRange & LoadOptions & KnownPages,
): AsyncGenerator<ListResponse> {
  const loader = pageLoader(requester, kind, options);
  const start = startSweep({ where: `GET ${kind.list.path}`, thorough: false, sizesVary: true });
  return readOn(loader, start, { from, to }, createUnread(loader, kind));
}

/** Reads pages without a plan, and past those that cannot be read. */
async function* readOn(
  loader: PageLoader,
  known: SweepPlan,
  { from, to }: PageRange,
  unread: ReturnType<typeof createUnread>,
): AsyncGenerator<ListResponse> {
  const latest = known.latest.keys.length > 0 ? known.latest : known.top;
  let plan: SweepPlan = { ...known, phase: 'done', ask: null, end: null, latest };
  let next = from;
  let last = to;
  while (next <= last && (await unread.mayReadOn(plan, next))) {
    const range = { from: next, to: Math.min(last, Math.max(next, lastNamed(plan))) };
    let factor = 1;
    for await (const loaded of inOrder(range, loader.window, unread.load)) {
      const before: SweepPlan = plan;
      const taken = await loader.take(loaded, (page) => {
        const isAgain = isShownBefore(before, pageResponse(page));
        return { page, after: isAgain ? null : follow(before, pageResponse(page)) };
      });
      next = loaded.page + 1;
      if (isFailed(taken)) factor = unread.note(taken);
      else if (taken.after === null) last = 0;
      else {
        unread.endRow();
        plan = taken.after;
        yield listResponse(taken.page, plan);
      }
      if (hasEnded(plan)) last = 0;
      if (last === 0 || factor > 1 || unread.isDoubtful(plan)) break;
    }
    if (factor > 1) next = Math.floor((next - 2) * factor) + 1;
    last = Math.ceil(last * factor);
  }
  await unread.end(plan);
}

const hasEnded = ({ answers, latest }: SweepPlan): boolean => answers > 0 && latest.keys.length === 0;

function follow(plan: SweepPlan, response: PageResponse): SweepPlan {
  refuseEndless(plan);
  return {
    ...plan,
    ...(plan.answers === 0 && { first: response.keys, ...learnFromFirst(response) }), // Page 1 of the range.
    answers: plan.answers + 1,
    lastPage: response.meta.lastPage ?? plan.lastPage,
    shown: response.page,
    latest: response,
  };
}

/** Whether an answer shows another page than the requested one, by its `meta` or by its records. */
function isShownBefore(plan: SweepPlan, response: PageResponse): boolean {
  const { page, keys } = response;
  if (page > 1 && saysOther(response)) return refuseUnlessLast(plan, response) < page;
  if (plan.answers === 0 || keys.length === 0) return false;
  return (page !== plan.latest.page && sameTexts(keys, plan.latest.keys)) || sameTexts(keys, plan.first);
}

function listResponse({ sent, answered, value }: LoadedPage, plan: SweepPlan): ListResponse {
  return { sent, answered, rows: value.keys.length, ...value, page: plan.shown, end: plan.end, plan };
}
