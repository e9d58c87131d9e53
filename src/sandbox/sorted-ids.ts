import { comparePlaces } from './ordering.ts';
import type { Ordering, ListPlace } from './ordering.ts';

/** The ids of one list in its order, once records come, go or move. */
export interface SortedIds {
  readonly ids: readonly number[];
  enter(place: ListPlace): void;
  leave(place: ListPlace): void;
}

/** Starts from ids that are sorted already; `placeOf` tells where an id of them stands. */
export function sortedIds(
  start: readonly number[],
  ordering: Ordering,
  placeOf: (id: number) => ListPlace,
): SortedIds {
  const ids = [...start];

  /** The position at which this place stands, or would stand. */
  const positionOf = (wanted: ListPlace): number => {
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = comparePlaces(ordering, placeOf(ids[middle] as number), wanted) < 0;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    ids,
    enter: (place) => {
      ids.splice(positionOf(place), 0, place.id);
    },
    leave: (place) => {
      ids.splice(positionOf(place), 1);
    },
  };
}
