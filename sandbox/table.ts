import type { JsonObject } from '../src/lib/json/json.ts';
import { comparePlaces, listPlaceOf, type ListPlace, type Ordering } from './ordering.ts';

/** The source of unchanged records: each is generated when it is read. */
export interface Pristine {
  readonly count: number;
  readonly lastId: number;
  readonly ordering: Ordering;
  /** The id at this position of the list. */
  idAt(position: number): number;
  record(id: number): JsonObject | undefined;
}

/** How many generated records a kind remembers: all of a small company, and next to nothing of a large one. */
const REMEMBERED = 500;

/** The records of one kind. Stores changed records; of the others it remembers some, and generates the rest on each read. */
export type Table = ReturnType<typeof createTable>;

export function createTable(pristine: Pristine) {
  const { ordering } = pristine;
  const changed = new Map<number, JsonObject | 'gone'>();
  const generated = new Map<number, JsonObject | undefined>();
  let order: SortedIds | null = null; // Null until a record is added, removed or moved.
  let lastId = pristine.lastId;

  const generate = (id: number): JsonObject | undefined => {
    const record = generated.get(id) ?? pristine.record(id);
    if (generated.size < REMEMBERED) generated.set(id, record);
    return record;
  };
  const get = (id: number): JsonObject | undefined => {
    const record = changed.get(id) ?? generate(id);
    return record === 'gone' ? undefined : record;
  };
  const place = (id: number, record = get(id)): ListPlace => listPlaceOf(ordering, id, record ?? {});
  const sortedOrder = (): SortedIds =>
    (order ??= sortedIds(pristineIds(pristine, 0, pristine.count), ordering, place));

  return {
    count: (): number => order?.ids.length ?? pristine.count,
    /** Ids of the list from position `start` up to, but without, `end`. */
    slice: (start: number, end: number): readonly number[] =>
      order?.ids.slice(start, end) ?? pristineIds(pristine, start, end),
    get,
    nextId: (): number => lastId + 1,
    put: (id: number, record: JsonObject): void => {
      const old = get(id);
      const stays = old && place(id, old).key === place(id, record).key;
      if (old && !stays) sortedOrder().remove(place(id, old));
      if (!stays) sortedOrder().insert(place(id, record));
      changed.set(id, record);
      lastId = Math.max(lastId, id);
    },
    remove: (id: number): void => {
      sortedOrder().remove(place(id));
      changed.set(id, 'gone');
    },
  };
}

function pristineIds(pristine: Pristine, start: number, end: number): readonly number[] {
  const length = Math.max(0, Math.min(end, pristine.count) - start);
  return Array.from({ length }, (_, at) => pristine.idAt(start + at));
}

type SortedIds = ReturnType<typeof sortedIds>;

/**
 * The ids of one list in its order, once records come, go or move. Starts from sorted ids; `placeAt` returns
 * the place of an id.
 */
function sortedIds(start: readonly number[], ordering: Ordering, placeAt: (id: number) => ListPlace) {
  const ids = [...start];

  /** The position at which this place stands, or would stand. */
  const positionOf = (wanted: ListPlace): number => {
    let low = 0;
    let high = ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = comparePlaces(ordering, placeAt(ids[middle] as number), wanted) < 0;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    ids,
    insert: (place: ListPlace): void => {
      ids.splice(positionOf(place), 0, place.id);
    },
    remove: (place: ListPlace): void => {
      ids.splice(positionOf(place), 1);
    },
  };
}
