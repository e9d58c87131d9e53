import type { WatchedList, FrameEdit, ListFrame } from './watched-list.ts';

/** A list response as freshness uses it. */
export interface PageReading {
  readonly page: number;
  readonly ids: readonly string[];
  /** Rows of the list, as `meta` tells; null = it does not. */
  readonly total: number | null;
  readonly atMs: number;
}

/** The places of a page at which rows came and went. */
export interface PlacedPage extends FrameEdit {
  /** Rows that the list has more (or fewer, below 0) by what was located. */
  readonly by: number;
  /** Records that are new to the list, or stand in another place. */
  readonly added: number;
  /** Records that would stand on this page, between two that do. */
  readonly gone: readonly string[];
  /** Null if no record of the page tells how far it has shifted. */
  readonly mark: PageMark | null;
}

/** A page's records stand `shift` places behind (or before, below 0) what is located so far. */
export interface PageMark {
  /** The first and the last of its records that are in place. */
  readonly first: string;
  readonly last: string;
  readonly shift: number;
}

/** A record that the frame has, with its index on the page. */
interface Known {
  readonly id: string;
  readonly index: number;
  readonly place: number;
  /** How many places behind the expected one it stands. */
  readonly shift: number;
}

/** Compares a page with what is expected on it: a record that stands elsewhere has moved, or others came or went. */
export function placePage(list: WatchedList, { page, ids }: PageReading): PlacedPage {
  const { places, stride } = list.frame;
  const offset = page === 1 ? 0 : (page - 1) * stride;
  const known = ids.flatMap((id, index): Known | [] => {
    const place = places.get(id);
    return place === undefined ? [] : { id, index, place, shift: offset + index - place };
  });
  return walk(list, ids, { firm: inPlace(known, stride), offset });
}

interface Expected {
  readonly firm: readonly Known[];
  /** The place at which the page begins, if nothing has shifted. */
  readonly offset: number;
}

/** Goes through the rows of a page: what stands between two records in place came, what is missing there went. */
function walk({ frame }: WatchedList, ids: readonly string[], { firm, offset }: Expected): PlacedPage {
  const inserted = new Map<number, string[]>();
  const removed = new Set<number>();
  const shown = new Set(ids);
  const firmAt = new Map(firm.map((known) => [known.index, known]));
  let before: Known | null = null;
  let fresh: string[] = [];
  for (const [index, id] of ids.entries()) {
    const known = firmAt.get(index);
    if (known === undefined) {
      fresh.push(id);
      continue;
    }
    if (fresh.length > 0) inserted.set(known.place, fresh);
    if (before !== null)
      for (const place of placesBetween(frame, before, known).filter(
        (place) => !isShown(frame, place, shown),
      ))
        removed.add(place);
    [before, fresh] = [known, []];
  }
  const end = before === null ? Math.min(offset, frame.ids.length) : before.place + 1;
  if (fresh.length > 0) inserted.set(end, fresh);
  return finish(frame, { inserted, removed, firm });
}

interface Walked {
  readonly inserted: ReadonlyMap<number, readonly string[]>;
  readonly removed: ReadonlySet<number>;
  readonly firm: readonly Known[];
}

/** A record that stands in another place now has left its old one. */
function finish(frame: ListFrame, { inserted, removed, firm }: Walked): PlacedPage {
  const gone = idsAt(frame, removed);
  const came = [...inserted.values()].flat();
  const moved = came.flatMap((id) => frame.places.get(id) ?? []);
  const edit = { inserted, removed: new Set([...removed, ...moved]) };
  const found = { ...edit, gone, added: came.length, by: came.length - edit.removed.size };
  const [first, last] = [firm[0], firm.at(-1)];
  if (first === undefined || last === undefined) return { ...found, mark: null };
  const left = moved.filter((place) => place < first.place).length;
  return { ...found, mark: { first: first.id, last: last.id, shift: first.shift - first.index + left } };
}

export const idsAt = ({ ids }: ListFrame, places: Iterable<number>): string[] =>
  [...places].flatMap((place) => ids[place] ?? []);

const isShown = ({ ids }: ListFrame, place: number, shown: ReadonlySet<string>): boolean =>
  shown.has(ids[place] ?? '');

interface Placed {
  readonly place: number;
}

/** The places between two others. */
export function placesBetween({ ids }: ListFrame, after: Placed, before: Placed): number[] {
  const length = Math.max(0, Math.min(before.place, ids.length) - after.place - 1);
  return Array.from({ length }, (_, index) => after.place + 1 + index);
}

/** Records that kept their order: all but those that stand more than a page away from most others, or out of order. */
function inPlace(known: readonly Known[], stride: number): Known[] {
  const shifts = known.map(({ shift }) => shift).sort((a, b) => a - b);
  const middle = shifts[shifts.length >> 1] ?? 0;
  const near = known.filter(({ shift }) => Math.abs(shift - middle) <= stride);
  return inOrder(near) ? near : longestRising(near);
}

const inOrder = (known: readonly Known[]): boolean =>
  known.every(({ place }, index) => index === 0 || place > (known[index - 1]?.place ?? 0));

/** The longest part whose places rise. */
function longestRising(known: readonly Known[]): Known[] {
  const ends: number[] = []; // By length less one: the index that ends a rising part with the lowest place.
  const before: (number | undefined)[] = [];
  const placeOf = (index: number | undefined): number =>
    index === undefined ? 0 : (known[index]?.place ?? 0);
  for (const [index, { place }] of known.entries()) {
    let length = 0;
    while (length < ends.length && placeOf(ends[length]) < place) length++;
    before[index] = ends[length - 1];
    ends[length] = index;
  }
  const rising: Known[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index])
    rising.unshift(...known.slice(index, index + 1));
  return rising;
}
