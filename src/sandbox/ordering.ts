import type { Kind, ListOrder } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';
import { pickupDate } from './generate/booking.ts';
import { identity, neighboursSwapped, scattered } from './permutation.ts';
import type { Permutation } from './permutation.ts';

/** How a kind's list is sorted: by a field, then by id; by id alone where there is no field. */
export interface Ordering {
  readonly by: string | null;
  readonly newestFirst: boolean;
  /** How the order of the generated records differs from that of their creation. */
  readonly permutation: (count: number) => Permutation;
}

const BY_ID: Ordering = { by: null, newestFirst: false, permutation: () => identity };

const ORDERINGS: Readonly<Record<ListOrder, Ordering>> = {
  'created, oldest first': BY_ID,
  unknown: BY_ID,
  'created, newest first': { ...BY_ID, newestFirst: true },
  code: { by: 'code', newestFirst: false, permutation: scattered },
  'pickup date, newest first': {
    by: 'pickup_date',
    newestFirst: true,
    permutation: (count) =>
      neighboursSwapped(count, (a, b) => pickupDate({ rank: a, count }) !== pickupDate({ rank: b, count })),
  },
};

export const orderingOf = (kind: Kind): Ordering => ORDERINGS[kind.list?.order ?? 'unknown'];

/** The sort key of a record in its list. */
export interface ListPlace {
  readonly key: string;
  readonly id: number;
}

export function placeOf({ by }: Ordering, id: number, record: JsonObject): ListPlace {
  const value = by === null ? null : record[by];
  return { key: typeof value === 'string' ? value : '', id };
}

/** Negative where `a` comes before `b` in the list. */
export function comparePlaces({ newestFirst }: Ordering, a: ListPlace, b: ListPlace): number {
  const ascending = a.key === b.key ? a.id - b.id : a.key < b.key ? -1 : 1;
  return newestFirst ? -ascending : ascending;
}
