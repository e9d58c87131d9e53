import { sameTexts } from '../../lib/text/text-list.ts';
import { NO_META } from '../http/read-answer.ts';
import {
  isLastPageAgain,
  refuseEmptyPages,
  refuseEndless,
  refuseGrowth,
  refuseResized,
  provenEnd,
  learnFromFirst,
  endIsAgreed,
  looksLikePage,
  pagesFor,
  tellsPages,
} from './page-checks.ts';
import type { PageResponse, PagesKnown, ListEnd, PageShown } from './page-checks.ts';

/**
 * The state of a sweep: a state machine without I/O decides the next page.
 *
 *   first ─► open ─► body ─► tail ─► done      page 1; the last page, alone; pages 1…L−1; on until an empty page
 *     └────► walk ─► reread ───────► done      no `meta`: page after page until an empty one; page 1 if it was page 2
 *
 *   done ──► open ─► body ─► tail ─► done      a closing read: the last page again, alone; pages 1…L−1
 *
 * The end is proved early, so that one sweep reads most rows after it, and page 1, where new rows come, on both sides.
 */
export interface SweepPlan extends PagesKnown {
  readonly paging: 'documented' | 'by answer';
  readonly thorough: boolean;
  /** Rows that the list had when it was last read. */
  readonly knownRows?: number;
  readonly phase: Phase;
  /** Pages to ask for now, all of them side by side; null = the sweep is done. Stays until its last page is taken. */
  readonly ask: PageRange | null;
  /** The proof of the list's end in the latest response. */
  readonly end: ListEnd | null;
  /** The end was seen: no page beyond `ask` is needed. */
  readonly ended: boolean;
  /** How often the end was searched for on another page than expected. */
  readonly detours: number;
}

export interface PageRange {
  readonly from: number;
  readonly to: number;
}

type SweepStart = Pick<SweepPlan, 'where' | 'paging' | 'thorough' | 'knownRows'> &
  Partial<Pick<SweepPlan, 'sizesVary'>>;

type Phase = 'first' | 'walk' | 'reread' | 'open' | 'body' | 'tail' | 'done';

/** A response as the phases see it; `page` is the page that it shows. */
interface SweepView extends PageShown {
  /** The last page once more. */
  readonly again: boolean;
  /** The records of page 1 as read before. */
  readonly asFirst: boolean;
}

const NO_PAGE: PageResponse = { page: 0, keys: [], meta: NO_META };

export function startSweep(start: SweepStart): SweepPlan {
  return {
    sizesVary: false,
    ...start,
    phase: 'first',
    ask: only(1),
    end: null,
    ended: false,
    detours: 0,
    stride: 0,
    perPage: null,
    countable: false,
    lastPage: null,
    emptyFrom: Infinity,
    emptyInARow: 0,
    hasHoles: false,
    onePage: false,
    answers: 0,
    mostAnswers: Infinity,
    first: [],
    top: NO_PAGE,
    latest: NO_PAGE,
  };
}

/**
 * Plans a closing read of a swept list: its end again, alone, and then the pages before it.
 *
 * It starts in the state of a sweep after page 1. A full last page would prove nothing, so the page after it is read.
 * A list of one page is its own end, and is read as for the first time.
 *
 * @param plan The plan after the last response of that sweep, or of an earlier closing read.
 */
export function reopenSweep(plan: SweepPlan): SweepPlan {
  const start = startSweep({ ...plan, thorough: false });
  const { stride, perPage, countable, lastPage, mostAnswers, first, top } = plan;
  if (top.page <= 1) return start;
  const ask = only(top.keys.length < stride ? top.page : top.page + 1);
  const asFirst = { page: 1, keys: first, meta: NO_META };
  const learned = { stride, perPage, countable, lastPage, mostAnswers, first, top: asFirst, latest: asFirst };
  return { ...start, ...learned, phase: 'open', ask };
}

/**
 * Takes the next response, in the order of the requests.
 *
 * @throws {SourceError} page_ignored, page_repeated, page_grew, page_resized, endless, empty_pages
 */
export function advance(plan: SweepPlan, response: PageResponse): SweepPlan {
  refuseEndless(plan);
  const known = plan.phase === 'first' ? { ...plan, ...learnFromFirst(plan.paging, response) } : plan;
  const again = isLastPageAgain(known, response);
  if (!again) {
    refuseGrowth(known, response);
    refuseResized(known, response);
  }

  const { keys, meta } = response;
  const view: SweepView = {
    page: again ? pageAgain(known, response) : response.page,
    rows: keys.length,
    meta,
    again,
    asFirst: sameTexts(keys, known.first),
  };
  const end = known.countable ? provenEnd(view, known.stride) : null;
  const remembered = remember(known, response, view.page);
  refuseEmptyPages(remembered);
  return PHASES[plan.phase]({ ...remembered, end }, view);
}

/** The page that a repetition shows: the number it names, or else the last known page. */
function pageAgain({ top }: SweepPlan, { page, meta }: PageResponse): number {
  return meta.currentPage === null || meta.currentPage === page ? top.page : meta.currentPage;
}

/** @param shown The page that the response shows, which may differ from the requested one. */
function remember(plan: SweepPlan, response: PageResponse, shown: number): SweepPlan {
  const { page, keys, meta } = response;
  return {
    ...plan,
    answers: plan.answers + 1,
    lastPage: meta.lastPage ?? plan.lastPage,
    emptyFrom: keys.length === 0 ? Math.min(plan.emptyFrom, shown) : plan.emptyFrom,
    emptyInARow: keys.length === 0 ? plan.emptyInARow + 1 : 0,
    hasHoles: plan.hasHoles || (keys.length < plan.stride && shown < plan.top.page),
    first: page === 1 ? keys : plan.first,
    top: keys.length > 0 && shown >= plan.top.page ? { ...response, page: shown } : plan.top,
    latest: response,
  };
}

/** One page alone. */
function only(page: number): PageRange {
  return { from: page, to: page };
}

const MOST_DETOURS = 4;

/** The transition of each phase: the next plan after a response. */
const PHASES: Record<Phase, (plan: SweepPlan, view: SweepView) => SweepPlan> = {
  first: afterFirst,
  walk: afterWalk,
  reread: afterReread,
  open: afterOpen,
  body: afterBody,
  tail: afterTail,
  done,
};

function afterFirst(plan: SweepPlan, view: SweepView): SweepPlan {
  if (!tellsPages(view.meta)) return afterUntold(plan, view);
  const { lastPage, total } = view.meta;
  if (plan.onePage && (view.rows === 0 || view.rows < plan.stride)) return onLastPageFound(plan, view);
  return { ...plan, phase: 'open', ask: only(Math.max(2, lastPage ?? pagesFor(total ?? 0, plan.stride))) };
}

/** Page 1 came without `meta`: a list without documented pages may be whole, unless its size looks like a page. */
function afterUntold(plan: SweepPlan, { rows }: SweepView): SweepPlan {
  const isWhole = plan.onePage && !looksLikePage(rows) && rows >= (plan.knownRows ?? 0) && !plan.thorough;
  if (rows === 0 || isWhole) return done({ ...plan, end: { rows } });
  return { ...plan, phase: 'walk', ask: only(2) };
}

function afterWalk(plan: SweepPlan, { page, rows, meta, again }: SweepView): SweepPlan {
  // The same records under another page number, without `meta`: this is the whole list.
  if (again) return done({ ...plan, end: meta.currentPage === null ? { rows } : plan.end });
  // Page 1 alone does not show the page size, so that an empty page 2 is no bound.
  if (rows === 0 && page === 2) return { ...plan, end: null, phase: 'reread', ask: only(1) };
  return rows === 0 ? done(plan) : { ...plan, ask: only(page + 1) };
}

/** Page 2 was empty: page 1 is the whole list if it is shorter now, or the same and of no size that pages have. */
function afterReread(plan: SweepPlan, { rows, asFirst }: SweepView): SweepPlan {
  const isWhole = rows < plan.stride || (asFirst && !looksLikePage(rows)); // A full page may have a successor by now.
  return done({ ...plan, end: isWhole ? { rows } : null });
}

function afterOpen(plan: SweepPlan, view: SweepView): SweepPlan {
  const detour = plan.detours < MOST_DETOURS ? detourFrom(plan, view) : null;
  if (detour !== null) return { ...plan, ask: only(detour), detours: plan.detours + 1 };
  const isFull = view.rows > 0 && view.rows >= plan.stride;
  return isFull && !view.again ? { ...plan, ask: only(view.page + 1) } : onLastPageFound(plan, view);
}

/** The page to request instead if `meta` says that the list does not end here. */
function detourFrom(plan: SweepPlan, view: SweepView): number | null {
  if (view.again || view.rows >= plan.stride) return null;
  const { lastPage } = view.meta;
  const believed = lastPage !== null && lastPage < plan.emptyFrom ? lastPage : null;
  if (view.rows === 0) return pageOfTotal(plan, view, believed);
  return believed !== null && believed > view.page ? believed : null;
}

function pageOfTotal({ stride }: SweepPlan, view: SweepView, lastPage: number | null): number | null {
  const { page, meta } = view;
  if (page === 1 || meta.total === null || meta.total === (page - 1) * stride) return null;
  const named = lastPage ?? Math.max(1, pagesFor(meta.total, stride));
  return named === page ? null : named;
}

/** The most pages by which a list may have grown since it was read last. */
const GROWTH = 10;

/** The last page is found: continues with the pages before it. */
function onLastPageFound(plan: SweepPlan, view: SweepView): SweepPlan {
  const expected = pagesFor(Math.max(view.meta.total ?? 0, plan.knownRows ?? 0), plan.stride) + GROWTH;
  if (view.rows === 0 && view.page > expected) return walkOn(plan, expected);
  const ended = view.rows === 0 || view.again || (endIsAgreed(view, plan.stride) && !plan.thorough);
  const settled = { ...plan, ended, phase: 'body' as const, ask: { from: 1, to: view.page - 1 } };
  return view.page > 1 ? settled : finish(settled);
}

/** If the page that `meta` calls last is empty and far beyond the expected end, continues from the expected end. */
function walkOn(plan: SweepPlan, to: number): SweepPlan {
  return { ...plan, ended: false, phase: 'body', ask: { from: 1, to } };
}

function afterBody(plan: SweepPlan): SweepPlan {
  return plan.latest.page === plan.ask?.to ? finish(plan) : plan;
}

/** Ends the sweep, unless pages have holes: then `meta` may agree by chance, and only an empty page ends the list. */
function finish(plan: SweepPlan): SweepPlan {
  return plan.ended && !plan.hasHoles ? done(plan) : { ...plan, phase: 'tail', ask: only(plan.top.page + 1) };
}

function afterTail(plan: SweepPlan, { page, rows, again }: SweepView): SweepPlan {
  return rows === 0 || again ? done(plan) : { ...plan, ask: only(page + 1) };
}

function done(plan: SweepPlan): SweepPlan {
  return { ...plan, phase: 'done', ask: null };
}
