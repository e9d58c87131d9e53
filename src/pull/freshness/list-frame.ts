/** The ids that a page of a list has shown, in their order. */
export interface FramePage {
  readonly page: number;
  readonly ids: readonly string[];
}

/**
 * The records of a list in their order, as its last complete sweep and the readings since then have shown them.
 *
 * The place of a record is its number in the list, from 0. A place without an id is a row that no page has shown: the list
 * moved while it was read.
 */
export interface ListFrame {
  /** Rows on a full page. */
  readonly stride: number;
  readonly ids: readonly (string | undefined)[];
  readonly places: ReadonlyMap<string, number>;
}

/** Rows that came and went: ids by the place before which they stand, and the places of those that left. */
export interface FrameEdit {
  readonly inserted: ReadonlyMap<number, readonly (string | undefined)[]>;
  readonly removed: ReadonlySet<number>;
}

/** Makes the frame of a list from the pages of a sweep. @param pageSize The size that `meta` has named; null = none. */
export function frameOf(pages: readonly FramePage[], pageSize: number | null): ListFrame {
  const shown = pages.filter(({ ids }) => ids.length > 0).toSorted((a, b) => a.page - b.page);
  const stride = strideOf(shown, pageSize);
  const places = new Map<string, number>(); // A record on two pages moved meanwhile: the later page counts.
  for (const { page, ids } of shown)
    for (const [index, id] of ids.entries()) places.set(id, index + (page === 1 ? 0 : (page - 1) * stride));
  const ids: (string | undefined)[] = [];
  for (const [id, place] of places) ids[place] = id;
  return { stride, ids: Array.from(ids), places };
}

/** Only where page 1 is the whole list may `meta` give a larger page than it showed. */
function strideOf(shown: readonly FramePage[], pageSize: number | null): number {
  const first = shown[0]?.ids.length ?? 0;
  if (shown.length > 1) return Math.max(1, first);
  return Math.max(1, first, pageSize ?? Number.MAX_SAFE_INTEGER);
}

/** The number of the last page of a list with so many rows; an empty list has one page. */
export function pagesOf({ stride }: Pick<ListFrame, 'stride'>, rows: number): number {
  return Math.max(1, Math.ceil(rows / stride));
}

export function editFrame({ stride, ids: before }: ListFrame, { inserted, removed }: FrameEdit): ListFrame {
  const ids: (string | undefined)[] = [];
  const last = Math.max(before.length, ...inserted.keys());
  for (let place = 0; place <= last; place++) {
    ids.push(...(inserted.get(place) ?? []));
    if (place < before.length && !removed.has(place)) ids.push(before[place]);
  }
  const places = new Map<string, number>();
  for (const [place, id] of ids.entries()) if (id !== undefined) places.set(id, place);
  return { stride, ids, places };
}
