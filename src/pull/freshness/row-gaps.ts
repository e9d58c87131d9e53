import { idsAt, pageCount, placeOfNew, placesBetween, relocate } from './watched-list.ts';
import type { FrameEdit, PageBound, RowGap, WatchedList } from './watched-list.ts';

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
interface PageMark {
  /** The first and the last of its records that are in place. */
  readonly first: string;
  readonly last: string;
  readonly shift: number;
}

const [HEAD, TAIL]: readonly PageBound[] = [
  { page: 0, id: null },
  { page: Infinity, id: null },
];

/** Takes the number of rows of a response: where it differs, rows came or went anywhere. */
export function countRows(list: WatchedList, total: number): WatchedList {
  const by = total - (list.total ?? total);
  return { ...list, total, gaps: [...list.gaps, ...anywhere(list, by)] };
}

/** A gap from the beginning of the list to its end. */
const wide = (by: number): RowGap[] =>
  by === 0 || HEAD === undefined || TAIL === undefined ? [] : [{ by, after: HEAD, before: TAIL }];

/** A gap wherever such rows may be; for rows that came, the page where new records are expected. */
function anywhere(list: WatchedList, by: number): RowGap[] {
  const place = by > 0 ? placeOfNew(list) : null;
  return wide(by).map((gap): RowGap => {
    if (place === null) return gap;
    if (place === 1) return { ...gap, before: { page: 2, id: null }, isGuess: true };
    return { ...gap, after: { page: place - 1, id: null }, isGuess: true };
  });
}

/** Takes rows that a page has located from the gaps that they may belong to; what no gap has came or went unnoticed. */
export function takeLocated(list: WatchedList, page: number, located: PlacedPage): WatchedList {
  const { inserted, removed, by } = located;
  if (inserted.size === 0 && removed.size === 0) return list;
  let left = by;
  const gaps = list.gaps
    .toSorted((a, b) => widthOf(a) - widthOf(b))
    .map((gap) => {
      const mayHold = page >= gap.after.page && page <= gap.before.page;
      const taken = mayHold ? common(gap.by, left) : 0;
      left -= taken;
      return { ...gap, by: gap.by - taken };
    });
  const open = [...gaps.filter((gap) => gap.by !== 0), ...anywhere(list, -left)];
  return { ...relocate(list, located), gaps: list.total === null ? [] : open };
}

const widthOf = ({ after, before }: RowGap): number => before.page - after.page;

/** The part that two numbers of rows have in common: 0 if rows came by one and went by the other. */
function common(a: number, b: number): number {
  if (Math.sign(a) !== Math.sign(b)) return 0;
  return Math.abs(a) < Math.abs(b) ? a : b;
}

/** Narrows gaps by a page whose rows have shifted so far: so many came or went before it, the others after it. */
export function narrowGaps(list: WatchedList, page: number, { first, last, shift }: PageMark): WatchedList {
  const [before, after] = [
    { page, id: first },
    { page, id: last },
  ];
  const isFixed = (gap: RowGap): boolean => gap.before.page <= page || gap.after.page >= page;
  const fixed = list.gaps.filter(isFixed);
  const free = list.gaps.filter((gap) => !isFixed(gap)).toSorted((a, b) => a.after.page - b.after.page);
  const need = shift - sumOf(fixed.filter((gap) => gap.before.page <= page));
  let [came, went] = rowsBefore(list, free, { need, page });
  if (came + went !== need) return { ...list, gaps: startOver(list, shift, { before, after }) };
  const split = free.flatMap((gap): RowGap[] => {
    const part = gap.by > 0 ? Math.min(gap.by, came) : Math.max(gap.by, went);
    if (gap.by > 0) came -= part;
    else went -= part;
    return [
      { ...gap, by: part, before },
      { ...gap, by: gap.by - part, after },
    ];
  });
  return { ...list, gaps: [...fixed, ...split].filter(({ by }) => by !== 0) };
}

const sumOf = (gaps: readonly RowGap[]): number => gaps.reduce((sum, { by }) => sum + by, 0);

/**
 * How many rows came and how many went before a page, of gaps that it lies in, where only their sum is known. Rows that came
 * and as many that went leave no shift: they are taken to be on that side on which new records are expected.
 */
function rowsBefore(
  list: WatchedList,
  free: readonly RowGap[],
  { need, page }: { readonly need: number; readonly page: number },
): [number, number] {
  const all = sumOf(free.filter(({ by }) => by > 0));
  const lost = sumOf(free.filter(({ by }) => by < 0));
  const [came, went] = [Math.max(0, need), Math.min(0, need)];
  const pairs = Math.max(0, Math.min(all - came, went - lost));
  const place = placeOfNew(list) ?? pageCount(list) / 2;
  const before = place < page ? pairs : 0;
  return [Math.min(all, came + before), Math.max(lost, went - before)];
}

/** The gaps contradict this page: rows came and went meanwhile. Only the page itself is certain. */
function startOver(
  list: WatchedList,
  shift: number,
  { before, after }: Pick<RowGap, 'before' | 'after'>,
): RowGap[] {
  const rest = sumOf(list.gaps) - shift;
  const { page } = before;
  const onSide = (by: number, isPossible: (gap: RowGap) => boolean): RowGap[] => {
    const expected = anywhere(list, by);
    return expected.every(isPossible) ? expected : wide(by);
  };
  return [
    ...onSide(shift, (gap) => gap.after.page < page).map((gap) =>
      gap.before.page <= page ? gap : { ...gap, before },
    ),
    ...onSide(rest, (gap) => gap.before.page > page).map((gap) =>
      gap.after.page >= page ? gap : { ...gap, after },
    ),
  ];
}

/** Locates what lies between two pages next to each other: no page is left to read there. */
export function closeGaps(list: WatchedList): WatchedList {
  const last = pageCount(list) + 1;
  const closed = new Map<number, RowGap[]>();
  for (const gap of list.gaps) {
    const { after, before } = gap;
    if (Math.min(before.page, last) > after.page + 1) continue;
    closed.set(after.page, [...(closed.get(after.page) ?? []), gap]);
  }
  return [...closed.values()].reduce(close, list);
}

/**
 * Records went where as many are missing between the two pages as rows. Otherwise the rows are to be searched for anew, unless
 * a gap that is not narrowed yet may have the rest.
 */
function close(list: WatchedList, closed: readonly RowGap[]): WatchedList {
  const { frame } = list;
  const by = sumOf(closed);
  const others = list.gaps.filter((other) => !closed.includes(other));
  const placesOf = (bounds: readonly PageBound[], end: number): number[] =>
    bounds.map(({ id }) => (id === null ? end : (frame.places.get(id) ?? end)));
  const after = {
    place: Math.max(
      ...placesOf(
        closed.map((gap) => gap.after),
        -1,
      ),
    ),
  };
  const before = {
    place: Math.min(
      ...placesOf(
        closed.map((gap) => gap.before),
        frame.ids.length,
      ),
    ),
  };
  const between = placesBetween(frame, after, before);
  if (by !== -between.length)
    return others.some((other) => mayShare(other, closed))
      ? list
      : { ...list, gaps: [...others, ...wide(by)] };
  const gone = new Map(list.gone);
  for (const id of idsAt(frame, between)) gone.set(id, list.totalMs);
  const edit = { inserted: new Map<number, string[]>(), removed: new Set(between) };
  return { ...relocate(list, edit), gone, gaps: others };
}

const mayShare = ({ by, after, before }: RowGap, closed: readonly RowGap[]): boolean =>
  by < 0 &&
  closed.every((gap) => gap.by < 0 && after.page <= gap.after.page && before.page >= gap.before.page);
