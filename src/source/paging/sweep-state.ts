import type { ListEnd, PageShown } from './end-proof.ts';
import type { PagesKnown } from './page-checks.ts';

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

export type SweepStart = Pick<SweepPlan, 'where' | 'paging' | 'thorough' | 'knownRows'> &
  Partial<Pick<SweepPlan, 'sizesVary'>>;

export type Phase = 'first' | 'walk' | 'reread' | 'open' | 'body' | 'tail' | 'done';

/** A response as the phases see it; `page` is the page that it shows. */
export interface SweepView extends PageShown {
  /** The last page once more. */
  readonly again: boolean;
  /** The records of page 1 as read before. */
  readonly asFirst: boolean;
}

/** One page alone. */
export function only(page: number): PageRange {
  return { from: page, to: page };
}
