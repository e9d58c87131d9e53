import { NO_META } from '../http/read-answer.ts';
import { countedWalk } from './counted-walk.ts';
import { openEndedWalk } from './open-ended-walk.ts';
import {
  NO_PAGE,
  derivePaging,
  findRepeatedPage,
  provenEnd,
  refuseEmptyPages,
  refuseEndless,
  refuseGrowth,
  refuseMissing,
  refuseResized,
  hasSameRows,
  type RepeatedPage,
  type PageResponse,
  type PageTaken,
} from './page-checks.ts';
import { walkEnds, only, type PageWalk } from './walk-steps.ts';

/** The options of a walk; by default the list was never read. */
type WalkOptions = Pick<PageWalk, 'where' | 'thorough'> &
  Partial<Pick<PageWalk, 'knownRows' | 'maxWholeRows' | 'sizesVary'>>;

/** Starts a walk through the pages of a list at page 1. */
export function startWalk(options: WalkOptions): PageWalk {
  return {
    knownRows: 0,
    maxWholeRows: 0,
    sizesVary: false,
    ...options,
    step: { phase: 'first', ask: only(1) },
    end: null,
    wholeListRows: null,
    shown: 0,
    possiblyRepeated: null,
    isCounted: false,
    rowsPerPage: 0,
    perPage: null,
    lastPage: null,
    firstEmptyPage: Infinity,
    emptyInARow: 0,
    missingPage: null,
    hasHoles: false,
    onePage: false,
    answers: 0,
    maxAnswers: Infinity,
    first: [],
    top: NO_PAGE,
    latest: NO_PAGE,
  };
}

/**
 * Starts a closing read of a list that was walked through: its end again, alone, and then the pages before it.
 *
 * A counted list is read as after page 1. A full last page would prove nothing, so the page after it is read. A list of one
 * page is its own end, and is read as if for the first time. An open-ended list is read again page by page: a full page 1
 * does not show its end.
 */
export function reopenWalk(walk: PageWalk): PageWalk {
  const { isCounted, rowsPerPage, perPage, lastPage, maxAnswers, first, top } = walk;
  const start = startWalk({ ...walk, thorough: !isCounted });
  if (!isCounted || top.page <= 1) return start;
  const ask = only(top.keys.length < rowsPerPage ? top.page : top.page + 1);
  const firstPage = { page: 1, keys: first, meta: NO_META };
  const learned = { isCounted, rowsPerPage, perPage, lastPage, maxAnswers, first };
  return {
    ...start,
    ...learned,
    top: firstPage,
    latest: firstPage,
    step: { phase: 'open', ask, detours: 0 },
  };
}

/**
 * Takes the next response, in the order of the requests. Page 1 decides how the walk goes on: `meta` has the length of a
 * counted list; the end of any other list is open. The end is proved early, so that one sweep reads most rows after it, and
 * page 1, where new rows come, on both sides.
 * @throws {SourceError} page_ignored, page_repeated, page_grew, page_resized, endless, empty_pages, not_found
 */
export function nextStep(walk: PageWalk, response: PageResponse): PageWalk {
  const { phase } = walk.step;
  refuseEndless(walk);
  refuseMissing(walk, response);
  const known = phase === 'first' ? { ...walk, ...derivePaging(response) } : walk;
  const shown = readShown(known, response);
  const taken = recordResponse(known, response, shown);
  refuseEmptyPages(taken);
  if (phase === 'reread') {
    const isSame = hasSameRows(response.keys, walk.first);
    return walkEnds({ ...taken, end: isSame ? { rows: shown.rows } : null });
  }
  // An empty page 2 without a total shows no page size, so it is not a bound.
  const isBare = shown.page === 2 && shown.rows === 0 && shown.meta.total === null;
  if (isBare && phase !== 'body') return { ...taken, end: null, step: { phase: 'reread', ask: only(1) } };
  return taken.isCounted ? countedWalk(taken, shown) : openEndedWalk(taken, shown);
}

function readShown(known: PageWalk, response: PageResponse): PageTaken {
  const repeated = findRepeatedPage(known, response);
  if (repeated === null) {
    refuseGrowth(known, response);
    refuseResized(known, response);
  }
  const { page, keys, meta, hasNext } = response;
  const shown = repeated === null || pageOfDoubt(repeated) !== null ? page : repeated.page;
  return { page: shown, rows: keys.length, meta, hasNext, repeated };
}

/** The page that may have come again, which the next response decides; null = none. */
const pageOfDoubt = (repeated: RepeatedPage | null): number | null =>
  repeated?.canBeOther === true ? repeated.page : null;

/** Rows of page 1, where it certainly came instead of a later page; else null. */
const rowsOfWhole = (walk: PageWalk, taken: PageTaken): number | null =>
  !walk.isCounted && taken.page === 1 && taken.repeated?.isSure === true ? taken.rows : null;

function recordResponse(walk: PageWalk, response: PageResponse, shown: PageTaken): PageWalk {
  const { isCounted, rowsPerPage, top } = walk;
  const { keys, meta } = response;
  const { page, rows, repeated } = shown;
  const isEmpty = rows === 0;
  return {
    ...walk,
    end: provenEnd(shown, rowsPerPage),
    wholeListRows: rowsOfWhole(walk, shown),
    shown: page,
    possiblyRepeated: pageOfDoubt(repeated),
    answers: walk.answers + 1,
    lastPage: meta.lastPage ?? walk.lastPage,
    firstEmptyPage: Math.min(walk.firstEmptyPage, isEmpty ? page : Infinity),
    emptyInARow: isEmpty ? walk.emptyInARow + 1 : 0,
    missingPage: response.missing === undefined ? walk.missingPage : page,
    hasHoles: walk.hasHoles || (isCounted && rows < rowsPerPage && page < top.page),
    first: response.page === 1 ? keys : walk.first,
    top: !isEmpty && page >= top.page ? { ...response, page } : top,
    latest: response,
  };
}
