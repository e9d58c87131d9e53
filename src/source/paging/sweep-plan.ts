import { NO_META } from '../http/read-answer.ts';
import {
  endIsAgreed,
  learnFromFirst,
  pageAgain,
  pagesFor,
  provenEnd,
  refuseEmptyPages,
  refuseEndless,
  refuseGrowth,
  refuseResized,
  sameRows,
  type PageAgain,
  type PageResponse,
  type PagesKnown,
  type ListEnd,
  type PageShown,
} from './page-checks.ts';

/**
 * The state of a sweep: a state machine without I/O decides the next page.
 *
 *   first ─► open ─► body ─► tail ─► done      page 1; the last page, alone; pages 1…L−1; on until an empty page
 *     └────► walk ─► reread ───────► done      length unknown: page after page until the end; page 1 if that is page 2
 *
 *   done ──► open ─► body ─► tail ─► done      a closing read: the last page again, alone; pages 1…L−1
 *
 * The end is proved early, so that one sweep reads most rows after it, and page 1, where new rows come, on both sides.
 *
 * A list that tells its length by `last_page` or `total` is counted. The end of any other list is looked for where the known
 * rows end; it is a `next` that is null, an empty or missing page, or a page that was read before.
 */
export interface SweepPlan extends PagesKnown {
  readonly thorough: boolean;
  /** The most rows with which page 1 came again as page 2 in an earlier sweep. */
  readonly wholeUpTo?: number;
  readonly phase: Phase;
  /** Pages to ask for now, all of them side by side; null = the sweep is done. Stays until its last page is taken. */
  readonly ask: PageRange | null;
  /** The proof of the list's end in the latest response. */
  readonly end: ListEnd | null;
  /** The end was seen: no page beyond `ask` is needed. */
  readonly ended: boolean;
  /** How often the end was searched for on another page than expected. */
  readonly detours: number;
  /** Rows of page 1, where it came instead of a later page; else null. */
  readonly wholeAt: number | null;
  /** A page before the end came again: the end that was found is none. */
  readonly hasShifted: boolean;
}

export interface PageRange {
  readonly from: number;
  readonly to: number;
}

type Phase = 'first' | 'walk' | 'reread' | 'open' | 'body' | 'tail' | 'done';

/** A response as the phases see it; `page` is the page that it shows. */
interface SweepView extends PageShown {
  readonly again: PageAgain | null;
  readonly repeats: number | null;
  /** The records of page 1 as read before. */
  readonly asFirst: boolean;
}

const NO_PAGE: PageResponse = { page: 0, keys: [], meta: NO_META };

export function startSweep(start: {
  readonly where: string;
  readonly thorough: boolean;
  readonly knownRows?: number;
  readonly wholeUpTo?: number;
  readonly sizesVary?: boolean;
}): SweepPlan {
  return {
    sizesVary: false,
    ...start,
    phase: 'first',
    ask: only(1),
    end: null,
    ended: false,
    detours: 0,
    shown: 0,
    repeats: null,
    wholeAt: null,
    hasShifted: false,
    isCounted: false,
    stride: 0,
    perPage: null,
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
 * A list of one page is its own end, and is read as for the first time; so is a list that does not tell its length, page
 * after page: that page 1 is full shows where others were seen before and after it.
 *
 * @param plan The plan after the last response of that sweep, or of an earlier closing read.
 */
export function reopenSweep(plan: SweepPlan): SweepPlan {
  const { isCounted, stride, perPage, lastPage, mostAnswers, first, top } = plan;
  const start = startSweep({ ...plan, thorough: !isCounted });
  if (!isCounted || top.page <= 1) return start;
  const ask = only(top.keys.length < stride ? top.page : top.page + 1);
  const asFirst = { page: 1, keys: first, meta: NO_META };
  const learned = { isCounted, stride, perPage, lastPage, mostAnswers, first, top: asFirst, latest: asFirst };
  return { ...start, ...learned, phase: 'open', ask };
}

/**
 * Takes the next response, in the order of the requests.
 *
 * @throws {SourceError} page_ignored, page_repeated, page_grew, page_resized, endless, empty_pages, not_found
 */
export function advance(plan: SweepPlan, response: PageResponse): SweepPlan {
  refuseEndless(plan);
  const hadRows = response.page <= Math.max(plan.top.page, plan.lastPage ?? 0);
  if (response.missing !== undefined && hadRows) throw response.missing;
  const known = plan.phase === 'first' ? { ...plan, ...learnFromFirst(response) } : plan;
  const again = pageAgain(known, response);
  if (again === null) {
    refuseGrowth(known, response);
    refuseResized(known, response);
  }

  const view = viewOf(known, response, again);
  const remembered = remember(known, response, view);
  refuseEmptyPages(remembered);
  return next({ ...remembered, end: provenEnd(view, known.stride) }, view);
}

function next(plan: SweepPlan, view: SweepView): SweepPlan {
  const isOpen = view.repeats !== null && plan.phase !== 'body';
  return isOpen ? { ...plan, end: null, ask: only(view.page + 1) } : PHASES[plan.phase](plan, view);
}

function viewOf({ first }: SweepPlan, response: PageResponse, again: PageAgain | null): SweepView {
  const { page, keys, meta, hasNext } = response;
  const repeats = again?.mayBeOther === true ? again.page : null;
  const shown = repeats === null ? (again?.page ?? page) : page;
  return { page: shown, rows: keys.length, meta, hasNext, again, repeats, asFirst: sameRows(keys, first) };
}

function remember(plan: SweepPlan, response: PageResponse, view: SweepView): SweepPlan {
  const { page, keys, meta } = response;
  const { page: shown } = view;
  return {
    ...plan,
    shown,
    repeats: view.repeats,
    answers: plan.answers + 1,
    lastPage: meta.lastPage ?? plan.lastPage,
    emptyFrom: view.rows === 0 ? Math.min(plan.emptyFrom, shown) : plan.emptyFrom,
    emptyInARow: view.rows === 0 ? plan.emptyInARow + 1 : 0,
    hasHoles: plan.hasHoles || (plan.isCounted && keys.length < plan.stride && shown < plan.top.page),
    wholeAt: isWholeAgain(plan, view) ? keys.length : plan.wholeAt,
    first: page === 1 ? keys : plan.first,
    top: keys.length > 0 && shown >= plan.top.page ? { ...response, page: shown } : plan.top,
    latest: response,
  };
}

function isWholeAgain({ isCounted }: SweepPlan, { page, again }: SweepView): boolean {
  return !isCounted && page === 1 && again?.isSure === true;
}

/** One page alone. */
function only(page: number): PageRange {
  return { from: page, to: page };
}

const MOST_DETOURS = 4;

/** The transition of each phase: the next plan after a response. */
const PHASES: Record<Phase, (plan: SweepPlan, view: SweepView) => SweepPlan> = {
  first: (plan, view) => {
    const { rows, meta } = view;
    if (!plan.isCounted) {
      if (isWhole(plan, view)) return done({ ...plan, end: { rows } });
      if (plan.thorough) return { ...plan, phase: 'walk', ask: only(2) };
      if (view.hasNext === false) return done(plan);
    } else if (plan.onePage && (rows === 0 || rows < plan.stride)) return onLastPageFound(plan, view);
    const total = plan.isCounted ? meta.total : plan.knownRows;
    const last = (plan.isCounted ? meta.lastPage : null) ?? pagesFor(total ?? 0, plan.stride);
    return { ...plan, phase: 'open', ask: only(Math.max(2, last)) };
  },
  walk: (plan, view) => {
    if (isBarePageTwo(view)) return rereadFirst(plan);
    const isEnd = view.rows === 0 || view.again !== null || (view.hasNext === false && !plan.thorough);
    return isEnd ? done(plan) : { ...plan, ask: only(view.page + 1) };
  },
  reread: (plan, { rows, asFirst }) => done({ ...plan, end: asFirst ? { rows } : null }),
  open: (plan, view) => {
    if (isBarePageTwo(view)) return rereadFirst(plan);
    const mayDetour = plan.detours < MOST_DETOURS;
    // A list that has become shorter: its end is looked for a page back, or else from the beginning.
    const isShorter = !plan.isCounted && view.rows === 0 && plan.top.page < view.page - 1;
    if (isShorter && !mayDetour) return walkAnew(plan);
    const detour = isShorter ? view.page - 1 : detourFrom(plan, view);
    if (detour !== null && mayDetour) return { ...plan, ask: only(detour), detours: plan.detours + 1 };
    return goesOn(plan, view) ? { ...plan, ask: only(view.page + 1) } : onLastPageFound(plan, view);
  },
  // Where a page before the end comes again, the list has ended there, and what was taken for its last page is that one.
  body: (plan, { again }) => {
    const shifted = { ...plan, hasShifted: plan.hasShifted || (!plan.isCounted && again !== null) };
    if (plan.latest.page !== plan.ask?.to) return shifted;
    return shifted.hasShifted ? walkAnew(shifted) : finish(shifted);
  },
  tail: (plan, view) => {
    if (isBarePageTwo(view)) return rereadFirst(plan);
    const isEnd = view.rows === 0 || view.again !== null;
    return isEnd ? done(plan) : { ...plan, ask: only(view.page + 1) };
  },
  done,
};

/** More rows than a service puts on a page. */
const MOST_ON_PAGE = 1_000;

/** Whether page 1 is all: it is empty, or the list has answered whole before, and has not outgrown that. */
function isWhole({ thorough, wholeUpTo = 0 }: SweepPlan, { rows, hasNext }: SweepView): boolean {
  if (hasNext === true) return false;
  if (rows === 0) return true;
  return !thorough && (rows < wholeUpTo || (rows === wholeUpTo && rows > MOST_ON_PAGE));
}

/** Reads page after page from page 2 on, whatever was taken for the end. */
function walkAnew(plan: SweepPlan): SweepPlan {
  const top = { page: 1, keys: plan.first, meta: NO_META };
  return { ...plan, hasShifted: false, ended: false, phase: 'walk', ask: only(2), top, latest: NO_PAGE };
}

/** An empty page 2 without a total: it shows no page size, so it is no bound. */
function isBarePageTwo({ page, rows, meta }: SweepView): boolean {
  return page === 2 && rows === 0 && meta.total === null;
}

function rereadFirst(plan: SweepPlan): SweepPlan {
  return { ...plan, end: null, phase: 'reread', ask: only(1) };
}

function goesOn({ isCounted, stride }: SweepPlan, { rows, again, hasNext }: SweepView): boolean {
  if (rows === 0 || again !== null) return false;
  return isCounted ? rows >= stride : (hasNext ?? rows >= stride);
}

/** The page to request instead if `meta` says that the list does not end here. */
function detourFrom(plan: SweepPlan, view: SweepView): number | null {
  if (!plan.isCounted || view.again !== null || view.rows >= plan.stride) return null;
  const { page, rows, meta } = view;
  const { lastPage } = meta;
  const believed = lastPage !== null && lastPage < plan.emptyFrom ? lastPage : null;
  if (rows === 0) return pageOfTotal(plan, page, meta.total, believed);
  return believed !== null && believed > page ? believed : null;
}

function pageOfTotal(
  { stride }: SweepPlan,
  page: number,
  total: number | null,
  lastPage: number | null,
): number | null {
  if (page === 1 || total === null || total === (page - 1) * stride) return null;
  const named = lastPage ?? Math.max(1, pagesFor(total, stride));
  return named === page ? null : named;
}

/** The most pages by which a list may have grown since it was read last. */
const GROWTH = 10;

/** The last page is found: continues with the pages before it. */
function onLastPageFound(plan: SweepPlan, view: SweepView): SweepPlan {
  const expected = pagesFor(Math.max(view.meta.total ?? 0, plan.knownRows ?? 0), plan.stride) + GROWTH;
  if (plan.isCounted && view.rows === 0 && view.page > expected)
    return { ...plan, ended: false, phase: 'body', ask: { from: 1, to: expected } }; // Far beyond the expected end.
  const isEnd = view.rows === 0 || view.again !== null;
  const ended = isEnd || (endIsAgreed(view, plan.stride) && !plan.thorough);
  const settled = { ...plan, ended, phase: 'body' as const, ask: { from: 1, to: view.page - 1 } };
  return view.page > 1 ? settled : finish(settled);
}

/** Ends the sweep, unless pages have holes: then `meta` may agree by chance, and only an empty page ends the list. */
function finish(plan: SweepPlan): SweepPlan {
  return plan.ended && !plan.hasHoles ? done(plan) : { ...plan, phase: 'tail', ask: only(plan.top.page + 1) };
}

function done(plan: SweepPlan): SweepPlan {
  return { ...plan, phase: 'done', ask: null };
}
