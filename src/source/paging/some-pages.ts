import type { ListedKind } from '../../catalog/kind.ts';
import { sameTexts } from '../../lib/text/text-list.ts';
import { learnFromFirst } from './list-length.ts';
import { expecting, inOrder, pageLoader, pageResponse, windowOf } from './load-page.ts';
import type { KnownPages, ListParts, LoadOptions } from './load-page.ts';
import { listResponse } from './sweep.ts';
import type { ListResponse } from './sweep.ts';
import { refuseEndless, refuseUnlessLast, saysOther } from './page-checks.ts';
import type { PageResponse } from './page-checks.ts';
import { startSweep } from './sweep-plan.ts';
import type { PageRange, SweepPlan } from './sweep-state.ts';

/**
 * Reads a range of pages, which proves nothing about the end of the list.
 *
 * The first page is read alone: it shows how far pages may be read side by side. Later ones are read one by one, up to
 * an empty page or a repeated one.
 *
 * @throws {SourceError} If an answer is no list, or the list has no end.
 */
export async function* somePages(
  parts: ListParts,
  kind: ListedKind,
  { from, to, ...options }: PageRange & LoadOptions & KnownPages,
): AsyncGenerator<ListResponse> {
  const { load, take } = pageLoader(parts, kind, { ...options, expect: expecting(options) });
  const window = windowOf(parts, options);
  let plan = planPages(kind);
  for (let next = from; next <= to; next = plan.latest.page + 1) {
    const range = { from: next, to: Math.min(to, Math.max(next, plan.lastPage ?? 0)) };
    for await (const loaded of inOrder(range, window, load)) {
      const known: SweepPlan = plan;
      const taken = await take(loaded, (page) => (isShownBefore(known, pageResponse(page)) ? null : page));
      if (taken === null) return;
      const response = pageResponse(taken);
      plan = remember(plan, response);
      yield listResponse(taken, plan);
      if (response.keys.length === 0) return;
    }
  }
}

function planPages({ list }: ListedKind): SweepPlan {
  const start = startSweep({
    where: `GET ${list.path}`,
    paging: list.paging,
    thorough: false,
    sizesVary: true,
  });
  return { ...start, phase: 'done', ask: null };
}

/** Whether an answer shows another page than the requested one, by its `meta` or by its records. */
function isShownBefore(plan: SweepPlan, response: PageResponse): boolean {
  const { page, keys } = response;
  if (page > 1 && saysOther(response)) return refuseUnlessLast(plan, response);
  if (plan.answers === 0 || keys.length === 0) return false;
  return sameTexts(keys, plan.latest.keys) || sameTexts(keys, plan.first);
}

/** Here `first` is the first page of the range. */
function remember(plan: SweepPlan, response: PageResponse): SweepPlan {
  refuseEndless(plan);
  const { keys, meta } = response;
  return {
    ...plan,
    ...(plan.answers === 0 && { first: keys, ...learnFromFirst(plan.paging, response) }),
    answers: plan.answers + 1,
    lastPage: meta.lastPage ?? plan.lastPage,
    latest: response,
  };
}
