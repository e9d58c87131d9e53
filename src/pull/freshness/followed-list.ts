import type { ListOrder } from '../../catalog/kind.ts';
import { parseIds } from '../../diff/page-ids.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import type { NotedChange, PageSighting, WatchedKind } from '../../store/sightings/sighting-store.ts';

/** A list, as its last complete sweep and the responses since then have shown it. It concludes nothing about any record. */
export interface FollowedList {
  readonly kind: string;
  /** The last response and the last change that are counted. */
  readonly tick: number;
  readonly seq: number;
  readonly order: ListOrder;
  readonly rowsPerPage: number;
  readonly pages: ReadonlyMap<number, FollowedPage>;
  /** The place of each record in the sweep, from 0. */
  readonly places: ReadonlyMap<string, number>;
  /** New records of a day. */
  readonly created: number;
  /** Rows that we know of, and rows by the latest response (null = responses have none). */
  readonly known: number;
  readonly total: number | null;
  /** When a page was last read, and when `total` last grew beyond `known`. */
  readonly readMs: number;
  readonly grewMs: number;
}

export interface FollowedPage {
  readonly readMs: number;
  /** Updates of its records within a day. */
  readonly updated: number;
  /** How many of its records the sweep did not show, and how many places the others stand behind those in the sweep. */
  readonly added: number;
  readonly shift: number;
}

export const UNREAD: FollowedPage = { readMs: 0, updated: 0, added: 0, shift: 0 };

/** Begins to follow a list by the responses since the begin of its last complete sweep. */
export function beginList(
  { kind, pageSize }: WatchedKind,
  order: ListOrder,
  responses: readonly PageSighting[],
  changes: readonly NotedChange[],
): FollowedList {
  // A list that ignores the page, or repeats its last, has no further pages. Of a page that was read twice the second counts.
  const firsts = new Map<string, number>();
  for (const { page, ids } of responses) firsts.set(ids, Math.min(page, firsts.get(ids) ?? page));
  const shown = responses.filter(({ page, ids, rows }) => rows > 0 && firsts.get(ids) === page);
  const rows = new Map(shown.map((response) => [response.page, response.rows]));
  const first = rows.get(1) ?? 1;
  const rowsPerPage = rows.size > 1 ? first : Math.max(first, pageSize ?? Infinity);
  const places = new Map(
    shown.flatMap(({ page, ids }) =>
      parseIds(ids).map((id, index) => [id, (page - 1) * rowsPerPage + index] as const),
    ),
  );
  const start = { kind, order, rowsPerPage, pages: new Map(), places, tick: 0, seq: 0, created: 0 };
  const list = addResponses({ ...start, known: 0, total: null, readMs: 0, grewMs: 0 }, shown, changes);
  const shownRows = [...rows.values()].reduce((sum, count) => sum + count, 0);
  return { ...list, known: list.total ?? shownRows, grewMs: 0 };
}

/** Adds what responses have shown. @param changes Those of the list within a day, the latest last. */
export function addResponses(
  list: FollowedList,
  responses: readonly PageSighting[],
  changes: readonly NotedChange[],
): FollowedList {
  const seq = changes.at(-1)?.seq ?? list.seq;
  if (responses.length === 0 && seq === list.seq) return list;
  const came = changes.filter(({ change }) => change === 'created' || change === 'restored');
  const created = came.filter(isOfService);
  const updates = new Map<string, number>();
  for (const { recordId } of changes.filter((one) => one.change === 'updated' && isOfService(one)))
    updates.set(recordId, (updates.get(recordId) ?? 0) + 1);
  const pages = new Map(list.pages);
  let { total, tick, readMs, grewMs } = list;
  let known = list.known + came.filter((change) => change.seq > list.seq).length;
  for (const response of responses) {
    const ids = parseIds(response.ids);
    tick = response.answered;
    readMs = parseInstant(response.seenAt).getTime();
    const updated = ids.reduce((sum, id) => sum + (updates.get(id) ?? 0), 0);
    const places = ids.flatMap((id) => list.places.get(id) ?? []);
    const offset = (response.page - 1) * list.rowsPerPage;
    const shift = places[0] === undefined ? 0 : offset - places[0];
    pages.set(response.page, { readMs, updated, added: ids.length - places.length, shift });
    if (response.total === null) continue;
    const missing = (total ?? known) - known;
    total = response.total;
    known = Math.min(known, total); // Rows have gone: which, the next sweep finds.
    if (total - known > missing) grewMs = readMs;
  }
  return { ...list, pages, tick, seq, created: created.length, known, total, readMs, grewMs };
}

/** Our own writes are known without a reading. */
const isOfService = ({ origin }: NotedChange): boolean => origin === 'service';

/** Pages that the list has now, in their order. Without a total, a full page may have a successor. */
export function pagesOf({ pages, total, known, rowsPerPage }: FollowedList): readonly FollowedPage[] {
  const count = Math.max(1, Math.ceil((total ?? known + 1) / rowsPerPage));
  return Array.from({ length: count }, (_, index) => pages.get(index + 1) ?? UNREAD);
}

/** The page on which new records appear, by the order of the list; null = any. */
export const newestPage = ({ order }: FollowedList, pages: number): number | null =>
  order.endsWith('newest first') ? 1 : order === 'code' && pages > 1 ? null : pages;

/**
 * The page to read for a row that the total counts and no page has shown; null = none. It is the newest page, else the middle of
 * those where the row may be: before a page that it has shifted, and behind one that it has not. Where rows have gone
 * meanwhile, that may miss it: the next sweep finds it.
 */
export function pageToSearch(list: FollowedList, pages: readonly FollowedPage[]): number | null {
  if (list.total === null || list.total <= list.known) return null;
  const newest = newestPage(list, pages.length);
  const isRead = (page: FollowedPage | undefined): boolean =>
    page === undefined || page.readMs >= list.grewMs;
  if (newest !== null && !isRead(pages[newest - 1])) return newest;
  let after = 0;
  let shift = 0; // Of the rows behind the pages so far.
  for (const [index, page] of pages.entries()) {
    if (isRead(page) && page.shift > shift) return middle(after, index + 1);
    if (isRead(page)) [after, shift] = [index + 1, page.shift];
    shift += page.added;
  }
  return middle(after, pages.length + 1);
}

const middle = (after: number, before: number): number | null =>
  before - after > 1 ? (after + before) >> 1 : null;
