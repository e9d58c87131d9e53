import { sameTexts } from '../../lib/text/text-list.ts';
import { provenEnd, learnFromFirst } from './list-length.ts';
import { NO_META } from '../answer/envelope.ts';
import {
  isLastPageAgain,
  refuseEmptyPages,
  refuseEndless,
  refuseGrowth,
  refuseResized,
} from './page-checks.ts';
import type { PageResponse } from './page-checks.ts';
import { PHASES, only } from './sweep-state.ts';
import type { SweepPlan, SweepStart, SweepView } from './sweep-state.ts';

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
