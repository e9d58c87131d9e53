import { NO_META, type Meta } from '../http/read-answer.ts';
import { SourceError, type SourceReason } from '../http/errors.ts';

/** A page as a walk compares it: the requested number, and one identifying text per record. */
export interface PageResponse {
  readonly page: number;
  readonly keys: readonly string[];
  readonly meta: Meta;
  /** By `links`: whether a page follows; null or absent where it does not say. */
  readonly hasNext?: boolean | null | undefined;
  /** The service's own 404. */
  readonly missing?: SourceError | undefined;
}

export const NO_PAGE: PageResponse = { page: 0, keys: [], meta: NO_META };

/** A page that was read before, shown again. */
export interface RepeatedPage {
  readonly page: number;
  /** The response shows it, or it was read just before. */
  readonly isSure: boolean;
  /** It may be another page with the same ids: only a repeat by the next page, too, ends the list. */
  readonly canBeOther?: boolean;
}

/** The facts known from earlier responses of a sweep. */
export interface WalkFacts {
  /** The list, for messages: `GET /api/clients`. */
  readonly where: string;
  /** `meta` of page 1 gives the length of the list: `last_page` or `total`. */
  readonly isCounted: boolean;
  readonly rowsPerPage: number;
  /** The page size that "meta" of page 1 has named. */
  readonly perPage: number | null;
  /** A page of another size is accepted: the list is known for it, or the page came with that size twice. */
  readonly sizesVary: boolean;
  readonly lastPage: number | null;
  /** The lowest empty page: `meta` is ignored for later ones. */
  readonly firstEmptyPage: number;
  /** Consecutive empty pages up to now. */
  readonly emptyInARow: number;
  /** The page that the service answered last with its own 404; null = none. */
  readonly missingPage: number | null;
  /** In a counted list a short or empty page was followed by pages with rows: it drops records after cutting its pages. */
  readonly hasHoles: boolean;
  /** `meta` of page 1 says that there is no page 2. */
  readonly onePage: boolean;
  readonly answers: number;
  readonly maxAnswers: number;
  readonly first: readonly string[];
  /** The highest page that had rows, and the page read last. */
  readonly top: PageResponse;
  readonly latest: PageResponse;
  /** The page that the latest response shows. */
  readonly shown: number;
  /** The page that the latest response may have repeated, which the next one decides; null = none. */
  readonly possiblyRepeated: number | null;
  /** Rows that the list had when it was last read. */
  readonly knownRows: number;
}

/** @throws {SourceError} endless */
export function refuseEndless(facts: WalkFacts): void {
  if (facts.answers < facts.maxAnswers) return;
  throw fault('endless', facts, `got ${facts.answers} pages and no end, expected far fewer`);
}

/** The last page that the list names; 0 where it names none. */
export const lastClaimedPage = ({ lastPage, latest, rowsPerPage }: WalkFacts): number =>
  lastPage ?? pagesFor(latest.meta.total ?? 0, rowsPerPage);

/** Refuses the service's own 404 for a page that has rows: by its `meta`, or because a later one has. @throws {SourceError} not_found */
export function refuseMissing(facts: WalkFacts, { page, missing }: PageResponse): void {
  if (missing !== undefined && page <= Math.max(facts.top.page, lastClaimedPage(facts))) throw missing;
}

/**
 * Whether a list without a length may go on behind its last page: a 404 alone shows its end, as no page is short. One page shows
 * no length of pages: it is full if another one followed it when the list was read last.
 */
export function mayGoOn({ isCounted, missingPage, top, rowsPerPage }: WalkFacts, hadTwo: boolean): boolean {
  const isFull = top.page > 1 ? top.keys.length >= rowsPerPage : hadTwo;
  return !isCounted && missingPage === top.page + 1 && isFull;
}

const MOST_EMPTY_IN_A_ROW = 20;

/** @throws {SourceError} empty_pages */
export function refuseEmptyPages(facts: WalkFacts): void {
  const { emptyInARow, latest } = facts;
  if (emptyInARow < MOST_EMPTY_IN_A_ROW) return;
  const got = `got ${emptyInARow} empty pages in a row, the last one page ${latest.page}`;
  throw fault('empty_pages', facts, `${got}, expected records or the end of the list`);
}

/**
 * Finds the page that a response shows instead of the requested one; null if it shows that one.
 *
 * Beyond the end, a counted list may repeat its last page if its `meta` says it is the last. Any other list ends where a page
 * is repeated: by its `meta`, or with exactly its ids. If the order differs between requests, pages may share some ids.
 * @throws {SourceError} page_ignored, page_repeated
 */
export function findRepeatedPage(facts: WalkFacts, response: PageResponse): RepeatedPage | null {
  const { page, keys } = response;
  if (page === 1) return null;
  if (isOtherPage(response)) {
    const shown = refuseUnlessLast(facts, response);
    return { page: shown, isSure: facts.isCounted || !canHideRows(shown, response) };
  }
  if (keys.length === 0) return null;
  return facts.isCounted ? refuseRepeatedPage(facts, response) : findEarlierPage(facts, response);
}

/** Whether the service may ignore `page` and never show further rows: a full page 1 is repeated. */
function canHideRows(shown: number, response: PageResponse): boolean {
  return shown === 1 && response.meta.perPage !== null && response.keys.length >= response.meta.perPage;
}

function refuseRepeatedPage(facts: WalkFacts, response: PageResponse): RepeatedPage | null {
  const { page, keys } = response;
  if (sameTexts(keys, facts.first)) {
    if (page === 2 && facts.onePage) return { page: facts.top.page, isSure: true };
    throw fault('page_ignored', facts, `page ${page}: got the records of page 1, expected others`);
  }
  const neighbour = page > facts.top.page ? facts.top : facts.latest;
  if (!sameTexts(keys, neighbour.keys)) return null;
  throw fault('page_repeated', facts, `page ${page}: got the records of page ${neighbour.page} again`);
}

/** Pages with fewer rows may have the same ids by chance. */
const FEW_ROWS = 10;

function findEarlierPage(facts: WalkFacts, response: PageResponse): RepeatedPage | null {
  const { page, keys, meta, hasNext } = response;
  const { first, top, latest, shown, possiblyRepeated, rowsPerPage, knownRows } = facts;
  const previous = { page: possiblyRepeated ?? shown, keys: latest.keys };
  const read = [previous, top, { page: 1, keys: first }];
  const repeated = read.find((candidate) => candidate.page !== page && hasSameRows(keys, candidate.keys));
  if (repeated === undefined) return null;
  if (hasNext === true) {
    const got = `page ${page}: got the records of page ${repeated.page} again, and a link to a next page`;
    throw fault('page_ignored', facts, got);
  }
  const isFew = meta.currentPage !== null && keys.length < FEW_ROWS;
  const isBelowLive = (repeated.page - 1) * rowsPerPage + keys.length < knownRows;
  const isDoubtful = isFew || isBelowLive || !sameTexts(keys, repeated.keys);
  const canBeOther = isDoubtful && !(possiblyRepeated !== null && repeated === previous);
  const isSure = repeated === previous && !canBeOther && !canHideRows(repeated.page, response);
  return { page: repeated.page, isSure, canBeOther };
}

/** Whether both show the same rows in the same order. */
export function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, at) => text === b[at]));
}

/** Whether both show the same rows, in any order. */
export function hasSameRows(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length || sameTexts(a, b)) return a.length === b.length;
  const otherTexts = new Set(b);
  return a.every((text) => otherTexts.has(text));
}

/** Whether an answer names another page than the requested one. */
export function isOtherPage(response: PageResponse): boolean {
  return response.meta.currentPage !== null && response.meta.currentPage !== response.page;
}

/**
 * Accepts an answer that names an earlier page than the requested one, if that is the last page.
 * @returns That page.
 * @throws {SourceError} page_ignored
 */
export function refuseUnlessLast(facts: WalkFacts, response: PageResponse): number {
  const { page, meta, hasNext } = response;
  const shown = meta.currentPage ?? page;
  const byTotal = meta.total === null ? shown : Math.max(1, pagesFor(meta.total, facts.rowsPerPage));
  const last = meta.lastPage ?? facts.lastPage ?? byTotal;
  if (shown < page && shown === last && hasNext !== true) return shown;
  throw fault('page_ignored', facts, `page ${page}: got page ${shown} by its "meta"`);
}

/** @throws {SourceError} page_grew */
export function refuseGrowth(facts: WalkFacts, response: PageResponse): void {
  const { page, keys } = response;
  if (page === 1 || keys.length <= facts.rowsPerPage) return;
  const what = `page ${page}: got ${keys.length} records, expected at most ${facts.rowsPerPage}`;
  throw fault('page_grew', facts, what);
}

/** Refuses a page that is not the last one by its own `meta` and has another size than the others. @throws {SourceError} page_resized */
export function refuseResized(facts: WalkFacts, response: PageResponse): void {
  const { page, keys, meta } = response;
  if (facts.sizesVary) return;
  const claimsMore = (meta.lastPage ?? facts.lastPage ?? 0) > page;
  const isHole = claimsMore && keys.length < facts.rowsPerPage && page < facts.top.page;
  const isOther = (claimsMore || keys.length === 0) && hasOtherSize(facts, meta);
  if (!isHole && !isOther) return;
  const got = `got ${keys.length} records, ${meta.perPage ?? 'an unknown number'} a page by its "meta"`;
  throw fault('page_resized', facts, `page ${page}: ${got}, expected ${facts.rowsPerPage} a page`);
}

function hasOtherSize(facts: WalkFacts, meta: Meta): boolean {
  return Boolean(facts.perPage) && Boolean(meta.perPage) && meta.perPage !== facts.perPage;
}

function fault(reason: SourceReason, facts: WalkFacts, what: string): SourceError {
  return new SourceError(reason, `${facts.where} ${what}`);
}

/** The list had exactly this many rows when the response was made; after an empty page: at most. */
export interface ListEnd {
  readonly rows: number;
}

/** The page that the latest response shows. */
export interface PageTaken extends Omit<PageResponse, 'keys'> {
  readonly rows: number;
  /** It came instead of a later page; null where it is the requested one. */
  readonly repeated: RepeatedPage | null;
}

/**
 * Proves the end of a list from one response, by arithmetic; null = no proof.
 *
 * A full page proves nothing, even if `meta` agrees: its total may be cached, and rows would vanish. It does where it came
 * instead of a later one, or where only `links` show the end.
 * @param rowsPerPage Rows on a full page of this sweep.
 */
export function provenEnd(shown: PageTaken, rowsPerPage: number): ListEnd | null {
  const { page, rows, meta, repeated, hasNext } = shown;
  const { lastPage } = meta;
  if (hasNext === true || repeated?.isSure === false) return null;
  const before = (page - 1) * rowsPerPage;
  if (rows === 0) return page > 1 && isClaimed(page, lastPage) ? null : { rows: before };
  if (lastPage !== null && lastPage !== page) return null; // A short page before the last one is a hole.
  return rows < rowsPerPage || repeated || isEndByLink(shown) ? { rows: before + rows } : null;
}

/** Whether `meta` says that this page has rows. */
const isClaimed = (page: number, lastPage: number | null): boolean => (lastPage ?? 0) >= page;

/** A `next` that is null, in a list without another sign of its end. */
function isEndByLink(shown: PageTaken): boolean {
  return shown.hasNext === false && !hasLength(shown.meta);
}

/** Whether every sign of the end confirms a last page, so that no further page must be requested. */
export function isEndAgreed(shown: PageTaken, rowsPerPage: number): boolean {
  const { page, rows, meta } = shown;
  if (isEndByLink(shown)) return true;
  const { currentPage, lastPage, perPage, total } = meta;
  if (rows === 0 || rows >= rowsPerPage || perPage !== rowsPerPage) return false;
  return currentPage === page && lastPage === page && total === provenEnd(shown, rowsPerPage)?.rows;
}

const PAGES_WHERE_UNKNOWN = 1000;
/** Larger numbers in `meta` are ignored. */
const MAX_PAGES = 1_000_000;

/**
 * Derives the paging from page 1.
 *
 * The page size is the number of rows sent, never the number requested. Only if page 1 is the whole list may `meta`
 * give a larger size.
 */
export function derivePaging(response: PageResponse) {
  const rows = response.keys.length;
  const { lastPage, perPage, total } = response.meta;
  const isCounted = hasLength(response.meta);
  const onePage = isCounted && (lastPage ?? 1) === 1 && (total ?? rows) <= rows;
  const rowsPerPage = onePage ? Math.max(rows, perPage ?? 0) : rows;
  const pages = isCounted
    ? Math.max(Math.min(lastPage ?? 1, MAX_PAGES), pagesFor(total ?? 0, rowsPerPage))
    : PAGES_WHERE_UNKNOWN;
  return { isCounted, rowsPerPage, perPage, onePage, maxAnswers: 3 * pages + 100 };
}

function hasLength(meta: Meta): boolean {
  return meta.lastPage !== null || meta.total !== null;
}

export function pagesFor(rows: number, rowsPerPage: number): number {
  return rowsPerPage === 0 ? 0 : Math.ceil(rows / rowsPerPage);
}
