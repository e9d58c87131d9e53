import { NO_META } from '../http/read-answer.ts';
import { NO_PAGE, pagesFor, type PageTaken } from './page-checks.ts';
import {
  MOST_DETOURS,
  walkEnds,
  finish,
  only,
  readBody,
  readTail,
  showsEnd,
  type PageWalk,
  type Step,
} from './walk-steps.ts';

/**
 * Decides the next step through a list without a length. It ends at a `next` that is null, at an empty or missing
 * page, or at a page that was read before; the end is searched for where the known rows end:
 *
 *   first ─► open ─► body ─► tail ─► done      page 1; the expected last page, alone; pages 1…L−1; on until the end
 *     └─► walk ◄┴──────┘ ──────────► done      no end known, or not where it was: page after page from page 2
 */
export function openEndedWalk(walk: PageWalk, shown: PageTaken): PageWalk {
  const { step } = walk;
  if (step.phase === 'body') return afterBody(walk, step, shown);
  // A page that may be another one with the same rows: the next page decides.
  if (walk.possiblyRepeated !== null && step.phase !== 'done')
    return { ...walk, step: { ...step, ask: only(shown.page + 1) } };
  if (step.phase === 'first') return afterFirst(walk, shown);
  if (step.phase === 'open') return afterOpen(walk, step, shown);
  if (step.phase === 'tail') return readTail(walk, shown);
  const isEnd = showsEnd(shown) || (shown.hasNext === false && !walk.thorough);
  return isEnd ? walkEnds(walk) : walkOn(walk, shown.page + 1);
}

function afterFirst(walk: PageWalk, shown: PageTaken): PageWalk {
  const { rows, hasNext } = shown;
  if (isWhole(walk, shown)) return walkEnds({ ...walk, end: { rows } });
  if (walk.thorough) return walkOn(walk, 2);
  if (hasNext === false) return walkEnds(walk);
  const last = pagesFor(walk.knownRows, walk.rowsPerPage);
  return { ...walk, step: { phase: 'open', ask: only(Math.max(2, last)), detours: 0 } };
}

/** More rows than a service puts on a page. */
const MAX_ROWS_PER_PAGE = 1_000;

/** Whether page 1 is all: it is empty, or the list has answered whole before, and has not outgrown that. */
function isWhole(walk: PageWalk, taken: PageTaken): boolean {
  const { rows, hasNext } = taken;
  if (hasNext === true) return false;
  if (rows === 0) return true;
  return (
    !walk.thorough && (rows < walk.maxWholeRows || (rows === walk.maxWholeRows && rows > MAX_ROWS_PER_PAGE))
  );
}

/** A list that has become shorter: its end is searched for a page back, or else from the beginning. */
function afterOpen(walk: PageWalk, step: Step & { readonly phase: 'open' }, shown: PageTaken): PageWalk {
  const { page, rows, hasNext } = shown;
  const { detours } = step;
  if (rows === 0 && walk.top.page < page - 1) {
    if (detours >= MOST_DETOURS) return restartWalk(walk);
    return { ...walk, step: { ...step, ask: only(page - 1), detours: detours + 1 } };
  }
  const goesOn = !showsEnd(shown) && (hasNext ?? rows >= walk.rowsPerPage);
  return goesOn ? { ...walk, step: { ...step, ask: only(page + 1) } } : readBody(walk, shown);
}

/** Where a page before the end comes again, the list has ended there, and what was taken for its last page is that one. */
function afterBody(walk: PageWalk, step: Step & { readonly phase: 'body' }, taken: PageTaken): PageWalk {
  const then = taken.repeated === null ? step.then : 'walk';
  if (walk.latest.page < step.ask.to) return then === step.then ? walk : { ...walk, step: { ...step, then } };
  return then === 'walk' ? restartWalk(walk) : finish(walk, then === 'done');
}

/** Reads page after page from page 2 on, whatever was taken for the end. */
function restartWalk(walk: PageWalk): PageWalk {
  const top = { page: 1, keys: walk.first, meta: NO_META };
  return walkOn({ ...walk, top, latest: NO_PAGE }, 2);
}

const walkOn = (walk: PageWalk, page: number): PageWalk => ({
  ...walk,
  step: { phase: 'walk', ask: only(page) },
});
