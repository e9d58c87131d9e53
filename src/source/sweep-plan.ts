import { endIsAgreed, provenEnd } from './end-proof.ts';
import type { ListEnd, PageShown } from './end-proof.ts';
import { NO_META } from './envelope.ts';
import { learnFromFirst, pagesFor, tellsPages } from './first-page.ts';
import { isLastPageAgain, refuseEndless, refuseGrowth, sameKeys } from './page-checks.ts';
import type { PageResponse, PagesKnown } from './page-checks.ts';

/**
 * Which page to ask for next, as a state machine without I/O.
 *
 *   first ─► open ─► body ─► tail ─► done      page 1; the last page, alone; pages 1…L−1; on until an empty page
 *     └────► walk ─► reread ───────► done      no `meta`: page after page until an empty one; page 1 if it was page 2
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
  /** What the response taken last proves about the end of the list. */
  readonly end: ListEnd | null;
  /** Nothing need be asked beyond `ask`: the end was seen. */
  readonly ended: boolean;
  /** How often the end was looked for on another page than expected. */
  readonly detours: number;
}

export interface PageRange {
  readonly from: number;
  readonly to: number;
}

export type SweepStart = Pick<SweepPlan, 'where' | 'paging' | 'thorough' | 'knownRows'>;

type Phase = 'first' | 'walk' | 'reread' | 'open' | 'body' | 'tail' | 'done';

/** A response as the phases see it; `page` is the page that it shows. */
interface View extends PageShown {
  /** The last page once more. */
  readonly again: boolean;
  /** The records of page 1 as read before. */
  readonly asFirst: boolean;
}

const NO_PAGE: PageResponse = { page: 0, keys: [], meta: NO_META };
const MOST_DETOURS = 4;

export function startSweep(start: SweepStart): SweepPlan {
  return {
    ...start,
    phase: 'first',
    ask: only(1),
    end: null,
    ended: false,
    detours: 0,
    stride: 0,
    lastPage: null,
    onePage: false,
    answers: 0,
    mostAnswers: Infinity,
    first: [],
    top: NO_PAGE,
    latest: NO_PAGE,
  };
}

/**
 * Takes the next response, in the order in which pages were asked for.
 *
 * @throws {SourceError} page_ignored, page_repeated, page_grew, endless
 */
export function advance(plan: SweepPlan, response: PageResponse): SweepPlan {
  refuseEndless(plan);
  const known = plan.phase === 'first' ? { ...plan, ...learnFromFirst(plan.paging, response) } : plan;
  const again = isLastPageAgain(known, response);
  if (!again) refuseGrowth(known, response);

  const { keys, meta } = response;
  const view: View = {
    page: again ? pageAgain(known, response) : response.page,
    rows: keys.length,
    meta,
    again,
    asFirst: sameKeys(keys, known.first),
  };
  const end = provenEnd(view, known.stride);
  return PHASES[plan.phase]({ ...remember(known, response), end }, view);
}

/** The page that a repetition shows: as it says itself, or else the last one known. */
function pageAgain({ top }: SweepPlan, { page, meta }: PageResponse): number {
  return meta.currentPage === null || meta.currentPage === page ? top.page : meta.currentPage;
}

function remember(plan: SweepPlan, response: PageResponse): SweepPlan {
  const { page, keys, meta } = response;
  return {
    ...plan,
    answers: plan.answers + 1,
    lastPage: meta.lastPage ?? plan.lastPage,
    first: page === 1 ? keys : plan.first,
    top: keys.length > 0 && page >= plan.top.page ? response : plan.top,
    latest: response,
  };
}

const PHASES: Record<Phase, (plan: SweepPlan, view: View) => SweepPlan> = {
  first: afterFirst,
  walk: afterWalk,
  reread: afterReread,
  open: afterOpen,
  body: afterBody,
  tail: afterTail,
  done,
};

function afterFirst(plan: SweepPlan, view: View): SweepPlan {
  if (!tellsPages(view.meta)) return afterUntold(plan, view);
  const { lastPage, total } = view.meta;
  if (plan.onePage && (view.rows === 0 || view.rows < plan.stride)) return settle(plan, view);
  return { ...plan, phase: 'open', ask: only(Math.max(2, lastPage ?? pagesFor(total ?? 0, plan.stride))) };
}

/** Page 1 came without `meta`: a list without documented pages may be whole, unless its size looks like a page. */
function afterUntold(plan: SweepPlan, { rows }: View): SweepPlan {
  const isWhole = plan.onePage && !looksLikePage(rows) && rows >= (plan.knownRows ?? 0) && !plan.thorough;
  if (rows === 0 || isWhole) return done({ ...plan, end: { rows } });
  return { ...plan, phase: 'walk', ask: only(2) };
}

function afterWalk(plan: SweepPlan, { page, rows, meta, again }: View): SweepPlan {
  // The same records under another page number, and no word of pages: that is the whole list.
  if (again) return done({ ...plan, end: meta.currentPage === null ? { rows } : plan.end });
  // Page 1 alone does not tell how many rows a page takes, so that an empty page 2 is no bound.
  if (rows === 0 && page === 2) return { ...plan, end: null, phase: 'reread', ask: only(1) };
  const end = looksLikePage(plan.stride) ? plan.end : null;
  return rows === 0 ? done({ ...plan, end }) : { ...plan, end, ask: only(page + 1) };
}

/** Page 2 was empty: page 1 is the whole list if it is still the same, or shorter. */
function afterReread(plan: SweepPlan, { rows, asFirst }: View): SweepPlan {
  return done({ ...plan, end: asFirst || rows < plan.stride ? { rows } : null });
}

function looksLikePage(rows: number): boolean {
  return rows % 10 === 0 || rows % 25 === 0;
}

function afterOpen(plan: SweepPlan, view: View): SweepPlan {
  const detour = plan.detours < MOST_DETOURS ? detourFrom(plan, view) : null;
  if (detour !== null) return { ...plan, ask: only(detour), detours: plan.detours + 1 };
  const isFull = view.rows > 0 && view.rows >= plan.stride;
  return isFull && !view.again ? { ...plan, ask: only(view.page + 1) } : settle(plan, view);
}

/** The page that should be asked instead, where `meta` contradicts that the list ends here. */
function detourFrom({ stride }: SweepPlan, view: View): number | null {
  if (view.again || view.rows >= stride) return null;
  return view.rows > 0 ? pageBeyond(view) : pageOfTotal(view, stride);
}

function pageBeyond({ page, meta: { lastPage } }: View): number | null {
  return lastPage !== null && lastPage > page ? lastPage : null;
}

function pageOfTotal({ page, meta: { lastPage, total } }: View, stride: number): number | null {
  if (page === 1 || total === null || total === (page - 1) * stride) return null;
  const named = lastPage !== null && lastPage !== page ? lastPage : Math.max(1, pagesFor(total, stride));
  return named === page ? null : named;
}

/** The last page is found: on to the pages before it. */
function settle(plan: SweepPlan, view: View): SweepPlan {
  const ended = view.rows === 0 || view.again || (endIsAgreed(view, plan.stride) && !plan.thorough);
  const settled = { ...plan, ended, phase: 'body' as const, ask: { from: 1, to: view.page - 1 } };
  return view.page > 1 ? settled : finish(settled);
}

function afterBody(plan: SweepPlan): SweepPlan {
  return plan.latest.page === plan.ask?.to ? finish(plan) : plan;
}

function finish(plan: SweepPlan): SweepPlan {
  return plan.ended ? done(plan) : { ...plan, phase: 'tail', ask: only(plan.top.page + 1) };
}

function afterTail(plan: SweepPlan, { page, rows, again }: View): SweepPlan {
  return rows === 0 || again ? done(plan) : { ...plan, ask: only(page + 1) };
}

function done(plan: SweepPlan): SweepPlan {
  return { ...plan, phase: 'done', ask: null };
}

function only(page: number): PageRange {
  return { from: page, to: page };
}
