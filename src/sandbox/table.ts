import type { JsonObject } from '../lib/json.ts';
import { placeOf } from './ordering.ts';
import type { Ordering, ListPlace } from './ordering.ts';
import { sortedIds } from './sorted-ids.ts';
import type { SortedIds } from './sorted-ids.ts';

/** The source of unchanged records: each is generated again every time it is read. */
export interface Pristine {
  readonly count: number;
  readonly lastId: number;
  readonly ordering: Ordering;
  /** The id at this position of the list. */
  idAt(position: number): number;
  record(id: number): JsonObject | undefined;
}

/** The records of one kind. Until the first change it holds nothing, however many records there are. */
export interface Table {
  count(): number;
  /** Ids of the list from position `start` up to, but without, `end`. */
  slice(start: number, end: number): readonly number[];
  get(id: number): JsonObject | undefined;
  nextId(): number;
  put(id: number, record: JsonObject): void;
  remove(id: number): void;
}

export function createTable(pristine: Pristine): Table {
  const { ordering } = pristine;
  const changed = new Map<number, JsonObject | 'gone'>();
  let order: SortedIds | null = null; // Only once records came, went or moved.
  let lastId = pristine.lastId;

  const get = (id: number): JsonObject | undefined => {
    const record = changed.get(id) ?? pristine.record(id);
    return record === 'gone' ? undefined : record;
  };
  const place = (id: number, record = get(id)): ListPlace => placeOf(ordering, id, record ?? {});
  const ownOrder = (): SortedIds =>
    (order ??= sortedIds(pristineIds(pristine, 0, pristine.count), ordering, place));

  return {
    count: () => order?.ids.length ?? pristine.count,
    slice: (start, end) => order?.ids.slice(start, end) ?? pristineIds(pristine, start, end),
    get,
    nextId: () => lastId + 1,
    put: (id, record) => {
      const old = get(id);
      const stays = old && place(id, old).key === place(id, record).key;
      if (old && !stays) ownOrder().leave(place(id, old));
      if (!stays) ownOrder().enter(place(id, record));
      changed.set(id, record);
      lastId = Math.max(lastId, id);
    },
    remove: (id) => {
      ownOrder().leave(place(id));
      changed.set(id, 'gone');
    },
  };
}

function pristineIds(pristine: Pristine, start: number, end: number): readonly number[] {
  const length = Math.max(0, Math.min(end, pristine.count) - start);
  return Array.from({ length }, (_, at) => pristine.idAt(start + at));
}
