/** The ids that a page of a list has shown, in their order. */
interface FramePage {
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

export function editFrame(frame: ListFrame, { inserted, removed }: FrameEdit): ListFrame {
  const { stride, ids: before } = frame;
  const cuts = [...new Set([...inserted.keys(), ...removed])].sort((a, b) => a - b);
  const parts: (readonly (string | undefined)[])[] = [];
  let from = 0;
  for (const cut of cuts) {
    parts.push(before.slice(from, cut), inserted.get(cut) ?? []);
    from = removed.has(cut) ? cut + 1 : cut;
  }
  const ids = before.slice(0, 0).concat(...parts, before.slice(from));
  const places = new Map(frame.places);
  for (const place of removed) places.delete(before[place] ?? '');
  for (let place = Math.min(cuts[0] ?? ids.length, before.length); place < ids.length; place++) {
    const id = ids[place];
    if (id !== undefined) places.set(id, place);
  }
  return { stride, ids, places };
}
