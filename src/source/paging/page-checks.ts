import { sameTexts } from '../../lib/text/text-list.ts';
import type { TextList } from '../../lib/text/text-list.ts';
import type { Meta } from '../http/read-answer.ts';
import { SourceError } from '../http/errors.ts';
import type { SourceReason } from '../http/errors.ts';

/** A page as the plan compares it: the requested number, and one identifying text per record. */
export interface PageResponse {
  readonly page: number;
  readonly keys: TextList;
  readonly meta: Meta;
}

/** The facts known from earlier responses of a sweep. */
export interface PagesKnown {
  /** The list, for messages: `GET /api/clients`. */
  readonly where: string;
  /** Rows on a full page. */
  readonly stride: number;
  /** The page size is reliable: it comes from `meta`, or looks like a page size. */
  readonly countable: boolean;
  /** The page size that "meta" of page 1 has named. */
  readonly perPage: number | null;
  /** A page of another size is accepted: the list is known for it, or the page came with that size twice. */
  readonly sizesVary: boolean;
  readonly lastPage: number | null;
  /** The lowest empty page: `meta` is ignored for later ones. */
  readonly emptyFrom: number;
  /** Consecutive empty pages up to now. */
  readonly emptyInARow: number;
  /** A short or empty page was followed by pages with rows: the list drops records after it has cut its pages. */
  readonly hasHoles: boolean;
  /** `meta` of page 1 says that there is no page 2. */
  readonly onePage: boolean;
  readonly answers: number;
  readonly mostAnswers: number;
  /** Page 1 as read last. */
  readonly first: TextList;
  /** The highest page that had rows, and the page read last. */
  readonly top: PageResponse;
  readonly latest: PageResponse;
}

/** @throws {SourceError} endless */
export function refuseEndless(known: PagesKnown): void {
  if (known.answers < known.mostAnswers) return;
  throw fault('endless', known, `got ${known.answers} pages and no end, expected far fewer`);
}

const MOST_EMPTY_IN_A_ROW = 20;

/** @throws {SourceError} empty_pages */
export function refuseEmptyPages(known: PagesKnown): void {
  const { emptyInARow, latest } = known;
  if (emptyInARow < MOST_EMPTY_IN_A_ROW) return;
  const got = `got ${emptyInARow} empty pages in a row, the last one page ${latest.page}`;
  throw fault('empty_pages', known, `${got}, expected records or the end of the list`);
}

/**
 * Whether a page repeats the list's last page, as some services answer beyond the end.
 *
 * @throws {SourceError} page_ignored, page_repeated
 */
export function isLastPageAgain(known: PagesKnown, response: PageResponse): boolean {
  const { page, keys } = response;
  if (page === 1) return false;
  if (saysOther(response)) return refuseUnlessLast(known, response);
  if (keys.length === 0) return false;
  if (sameTexts(keys, known.first)) {
    if (page === 2 && known.onePage) return true;
    throw fault('page_ignored', known, `page ${page}: got the records of page 1, expected others`);
  }
  const neighbour = page > known.top.page ? known.top : known.latest;
  if (!sameTexts(keys, neighbour.keys)) return false;
  throw fault('page_repeated', known, `page ${page}: got the records of page ${neighbour.page} again`);
}

/** Whether an answer names another page than the requested one. */
export function saysOther({ page, meta }: PageResponse): boolean {
  return meta.currentPage !== null && meta.currentPage !== page;
}

/**
 * A service may say openly that it shows an earlier page, if that is the last one.
 *
 * @throws {SourceError} page_ignored
 */
export function refuseUnlessLast(
  known: Pick<PagesKnown, 'where' | 'lastPage'>,
  { page, meta }: PageResponse,
): true {
  const shown = meta.currentPage ?? page;
  if (shown < page && shown === (meta.lastPage ?? known.lastPage)) return true;
  throw fault('page_ignored', known, `page ${page}: got page ${shown} by its "meta"`);
}

/** @throws {SourceError} page_grew */
export function refuseGrowth(known: PagesKnown, { page, keys }: PageResponse): void {
  if (page === 1 || keys.length <= known.stride) return;
  throw fault(
    'page_grew',
    known,
    `page ${page}: got ${keys.length} records, expected at most ${known.stride}`,
  );
}

/**
 * Refuses a page that is not the last one by its own `meta` and has another size than the others.
 *
 * @throws {SourceError} page_resized
 */
export function refuseResized(known: PagesKnown, { page, keys, meta }: PageResponse): void {
  if (known.sizesVary) return;
  const claimsMore = lastPageOf(known, meta) > page;
  const isHole = claimsMore && keys.length < known.stride && page < known.top.page;
  const isOther = claimsMore || keys.length === 0 ? saysOtherSize(known, meta) : false;
  if (!isHole && !isOther) return;
  const got = `got ${keys.length} records, ${meta.perPage ?? 'an unknown number'} a page by its "meta"`;
  throw fault('page_resized', known, `page ${page}: ${got}, expected ${known.stride} a page`);
}

const lastPageOf = (known: PagesKnown, meta: Meta): number => meta.lastPage ?? known.lastPage ?? 0;

function saysOtherSize({ perPage }: PagesKnown, meta: Meta): boolean {
  return Boolean(perPage) && Boolean(meta.perPage) && meta.perPage !== perPage;
}

function fault(reason: SourceReason, { where }: Pick<PagesKnown, 'where'>, what: string): SourceError {
  return new SourceError(reason, `${where} ${what}`);
}

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
