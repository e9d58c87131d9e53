import { pagesFor, type PageTaken } from './page-checks.ts';
import { MOST_DETOURS, finish, only, readBody, readTail, type PageWalk, type Step } from './walk-steps.ts';

/**
 * Decides the next step through a list whose `meta` has its length as `last_page` or `total`:
 *
 *   first ─► open ─► body ─► tail ─► done      page 1; the last page, alone; pages 1…L−1; on until an empty page
 */
export function countedWalk(walk: PageWalk, shown: PageTaken): PageWalk {
  const { step } = walk;
  if (step.phase === 'first') return afterFirst(walk, shown);
  if (step.phase === 'open') return afterOpen(walk, step, shown);
  if (step.phase !== 'body') return readTail(walk, shown);
  return walk.latest.page < step.ask.to ? walk : finish(walk, step.then === 'done');
}

function afterFirst(walk: PageWalk, shown: PageTaken): PageWalk {
  const { rows, meta } = shown;
  if (walk.onePage && (rows === 0 || rows < walk.rowsPerPage)) return lastPageFound(walk, shown);
  const last = meta.lastPage ?? pagesFor(meta.total ?? 0, walk.rowsPerPage);
  return { ...walk, step: { phase: 'open', ask: only(Math.max(2, last)), detours: 0 } };
}

function afterOpen(walk: PageWalk, step: Step & { readonly phase: 'open' }, shown: PageTaken): PageWalk {
  const detour = step.detours < MOST_DETOURS ? detourFrom(walk, shown) : null;
  if (detour !== null) return { ...walk, step: { ...step, ask: only(detour), detours: step.detours + 1 } };
  const isFull = shown.repeated === null && shown.rows > 0 && shown.rows >= walk.rowsPerPage;
  if (isFull) return { ...walk, step: { ...step, ask: only(shown.page + 1) } };
  return lastPageFound(walk, shown);
}

/** The page to request instead if `meta` says that the list does not end here. */
function detourFrom(walk: PageWalk, shown: PageTaken): number | null {
  const { page, rows, meta, repeated } = shown;
  if (repeated !== null || rows >= walk.rowsPerPage) return null;
  const believed = meta.lastPage !== null && meta.lastPage < walk.firstEmptyPage ? meta.lastPage : null;
  if (rows === 0) return pageOfTotal(walk, shown, believed);
  return (believed ?? 0) > page ? believed : null;
}

/** The last page by the total, where that names other rows than those before this empty page. */
function pageOfTotal(walk: PageWalk, shown: PageTaken, believed: number | null): number | null {
  const { page } = shown;
  const { total } = shown.meta;
  if (page === 1 || total === null || total === (page - 1) * walk.rowsPerPage) return null;
  const named = believed ?? Math.max(1, pagesFor(total, walk.rowsPerPage));
  return named === page ? null : named;
}

/** The most pages that a list may have grown by since the last read. */
const GROWTH = 10;

function lastPageFound(walk: PageWalk, shown: PageTaken): PageWalk {
  const expected = pagesFor(Math.max(shown.meta.total ?? 0, walk.knownRows), walk.rowsPerPage) + GROWTH;
  const isFarBeyond = shown.rows === 0 && shown.page > expected;
  if (!isFarBeyond) return readBody(walk, shown);
  return { ...walk, step: { phase: 'body', ask: { from: 1, to: expected }, then: 'tail' } };
}
