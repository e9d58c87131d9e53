import type { ListedKind } from '../../catalog/kind.ts';
import { expecting, inOrder, pageLoader, pageResponse, windowOf } from './load-page.ts';
import type { KnownPages, ListParts, LoadOptions, LoadedPage } from './load-page.ts';
import type { ListPage } from './list-page.ts';
import { advance, reopenSweep, startSweep } from './sweep-plan.ts';
import type { SweepPlan } from './sweep-state.ts';
import type { ListEnd } from './list-length.ts';

export interface SweepOptions extends LoadOptions, KnownPages {
  /** Reads on until an empty page even if `meta` says that the list has ended: first sweep, verify. */
  readonly thorough: boolean;
  /** The list moves while it is read: more requests than usual are put side by side. */
  readonly isMoving?: boolean | undefined;
  /** Pages of this list are known to have holes: a short one is not requested again. */
  readonly hasHoles?: boolean;
  /** Rows that the list had when it was last read: a shorter answer without `meta` may be its first page. */
  readonly knownRows?: number;
  /** The plan of the last response of a sweep: its end is read again, alone, then the pages before it; never thorough. */
  readonly reopen?: SweepPlan | undefined;
}

/** Carries out the plan of a sweep: requests pages and yields each response in the plan's order. */
export async function* sweepList(
  parts: ListParts,
  kind: ListedKind,
  options: SweepOptions,
): AsyncGenerator<ListResponse> {
  const { reopen } = options;
  const { load, take } = pageLoader(parts, kind, { ...options, expect: expecting(options) });

  const narrow = options.isMoving === true ? parts.requester.width.widen() : null;
  try {
    const window = windowOf(parts, options);
    let plan = reopen ? reopenSweep(reopen) : planSweep(kind, options);
    while (plan.ask !== null) {
      for await (const loaded of inOrder(plan.ask, window, load)) {
        const before: SweepPlan = plan;
        const [taken, after] = await take(loaded, (page, isLastAttempt) => {
          const known = isLastAttempt ? { ...before, sizesVary: true } : before;
          return [page, advance(known, pageResponse(page))] as const;
        });
        plan = after;
        yield listResponse(taken, plan);
      }
    }
  } finally {
    narrow?.();
  }
}

function planSweep({ list }: ListedKind, { thorough, hasHoles, knownRows = 0 }: SweepOptions): SweepPlan {
  const where = `GET ${list.path}`;
  return startSweep({ where, paging: list.paging, thorough, knownRows, sizesVary: hasHoles ?? false });
}

/** One response to a sweep: the page that it shows, its ticks, and its place in the list. */
export interface ListResponse extends ListPage {
  /** The requested page. */
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

export function listResponse({ page, sent, answered, value }: LoadedPage, plan: SweepPlan): ListResponse {
  return { page, sent, answered, rows: value.keys.length, ...value, end: plan.end, plan };
}
