import { isEndAgreed, type ListEnd, type PageTaken, type WalkFacts } from './page-checks.ts';

export interface PageRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The present step of a page walk. `ask`: the pages to ask for now, all of them side by side; it stays until the last of them is
 * taken; null = the walk is done.
 */
export type Step =
  /** Page 1; page after page; page 1 again; page after page behind the last page found. */
  | { readonly phase: 'first' | 'walk' | 'reread' | 'tail'; readonly ask: PageRange }
  /** The end is searched for, one page at a time. `detours`: how often on another page than expected. */
  | { readonly phase: 'open'; readonly ask: PageRange; readonly detours: number }
  /** The pages before the last one. `then`: what follows them. */
  | { readonly phase: 'body'; readonly ask: PageRange; readonly then: 'done' | 'tail' | 'walk' }
  | { readonly phase: 'done'; readonly ask: null };

/** A walk through the pages of a list, as plain values: the facts from earlier responses, and the present step. */
export interface PageWalk extends WalkFacts {
  readonly step: Step;
  /** The proof of the list's end in the latest response. */
  readonly end: ListEnd | null;
  /** Reads on until an empty page, whatever else shows the end. */
  readonly thorough: boolean;
  /** The longest page 1 that was repeated as page 2 in an earlier sweep. */
  readonly maxWholeRows: number;
  /** Rows of page 1, where the latest response showed it instead of a later page; else null. */
  readonly wholeListRows: number | null;
}

export const MOST_DETOURS = 4;

/** One page alone. */
export const only = (page: number): PageRange => ({ from: page, to: page });

export const showsEnd = (taken: PageTaken): boolean => taken.rows === 0 || taken.repeated !== null;

export const walkEnds = (walk: PageWalk): PageWalk => ({ ...walk, step: { phase: 'done', ask: null } });

/** Continues with the pages before the last one. */
export function readBody(walk: PageWalk, shown: PageTaken): PageWalk {
  const isEnd = showsEnd(shown) || (isEndAgreed(shown, walk.rowsPerPage) && !walk.thorough);
  if (shown.page <= 1) return finish(walk, isEnd);
  const ask = { from: 1, to: shown.page - 1 };
  return { ...walk, step: { phase: 'body', ask, then: isEnd ? 'done' : 'tail' } };
}

/** Ends the walk, unless pages have holes: then `meta` may agree by chance, and only an empty page ends the list. */
export function finish(walk: PageWalk, isEnd: boolean): PageWalk {
  if (isEnd && !walk.hasHoles) return walkEnds(walk);
  return { ...walk, step: { phase: 'tail', ask: only(walk.top.page + 1) } };
}

/** Reads behind the last page found, until the end. */
export const readTail = (walk: PageWalk, shown: PageTaken): PageWalk =>
  showsEnd(shown) ? walkEnds(walk) : { ...walk, step: { phase: 'tail', ask: only(shown.page + 1) } };
