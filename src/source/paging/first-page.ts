import type { Meta } from '../answer/envelope.ts';
import type { PageResponse, PagesKnown } from './page-checks.ts';

const PAGES_WHERE_UNKNOWN = 1000;
/** Larger numbers in `meta` are ignored. */
const MOST_PAGES = 1_000_000;

/**
 * Derives the paging from page 1.
 *
 * The page size is the number of rows sent, never the number requested. Only if page 1 is the whole list may `meta`
 * give a larger size.
 */
export function learnFromFirst(
  paging: 'documented' | 'by answer',
  { keys, meta }: PageResponse,
): Pick<PagesKnown, 'stride' | 'perPage' | 'countable' | 'onePage' | 'mostAnswers'> {
  const rows = keys.length;
  const { perPage } = meta;
  if (!tellsPages(meta)) {
    const countable = looksLikePage(rows);
    return {
      ...{ stride: rows, perPage, countable },
      onePage: paging === 'by answer',
      mostAnswers: mostAnswers(PAGES_WHERE_UNKNOWN),
    };
  }
  const { lastPage, total } = meta;
  const onePage = (lastPage ?? 1) === 1 && (total ?? rows) <= rows;
  const stride = onePage ? Math.max(rows, perPage ?? 0) : rows;
  const pages = Math.max(Math.min(lastPage ?? 1, MOST_PAGES), pagesFor(total ?? 0, stride));
  return { stride, perPage, countable: true, onePage, mostAnswers: mostAnswers(pages) };
}

/** Whether `meta` gives the length of the list. */
export function tellsPages({ lastPage, total }: Meta): boolean {
  return lastPage !== null || total !== null;
}

/** Whether a list without `meta` may have been cut after this number of rows. */
export function looksLikePage(rows: number): boolean {
  return rows % 10 === 0 || rows % 25 === 0;
}

function mostAnswers(pages: number): number {
  return 3 * pages + 100;
}

export function pagesFor(rows: number, stride: number): number {
  return stride === 0 ? 0 : Math.ceil(rows / stride);
}
