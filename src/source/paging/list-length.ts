import type { Meta } from '../answer/envelope.ts';
import type { PageResponse, PagesKnown } from './page-checks.ts';

/** The list had exactly this many rows when the response was made; after an empty page: at most. */
export interface ListEnd {
  readonly rows: number;
}

export interface PageShown {
  readonly page: number;
  readonly rows: number;
  readonly meta: Meta;
}

/**
 * Proves the end of a list from one response, by arithmetic; null = no proof.
 *
 * A full page proves nothing, even if `meta` agrees: its total may be cached, and rows would vanish.
 *
 * @param stride Rows on a full page of this sweep.
 */
export function provenEnd({ page, rows, meta }: PageShown, stride: number): ListEnd | null {
  const { lastPage, perPage } = meta;
  if (perPage !== null && perPage !== stride) return null;
  const before = (page - 1) * stride;
  if (rows === 0) return page > 1 && isClaimed(page, lastPage) ? null : { rows: before };
  if (rows >= stride) return null;
  return lastPage === null || lastPage === page ? { rows: before + rows } : null; // Else it is a hole.
}

/** Whether `meta` says that this page has rows. */
function isClaimed(page: number, lastPage: number | null): boolean {
  return lastPage !== null && lastPage >= page;
}

/** Whether all numbers of `meta` confirm a short last page, so that no further page must be requested. */
export function endIsAgreed(shown: PageShown, stride: number): boolean {
  const { page, rows, meta } = shown;
  return (
    rows > 0 &&
    rows < stride &&
    meta.currentPage === page &&
    meta.lastPage === page &&
    meta.perPage === stride &&
    meta.total === provenEnd(shown, stride)?.rows
  );
}

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
