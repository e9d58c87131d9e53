import type { Kind, ListOrder } from '../src/catalog/kind.ts';
import type { JsonObject } from '../src/lib/json/json.ts';
import { pickupDay } from './generate/work.ts';

/** Which record, by creation, stands at which rank; both ways in constant time, so that no list is ever built. */
interface Permutation {
  readonly indexAt: (rank: number) => number;
  readonly rankOf: (index: number) => number;
}

const identity: Permutation = { indexAt: (rank) => rank, rankOf: (index) => index };

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
    // Swaps neighbours 0-1, 2-3, … of different days: the list stays sorted by them.
    permutation: (count) => {
      const swap = (at: number): number => {
        const neighbour = at % 2 === 0 ? at + 1 : at - 1;
        const maySwap = pickupDay({ rank: at, count }) !== pickupDay({ rank: neighbour, count });
        return neighbour < count && maySwap ? neighbour : at;
      };
      return { indexAt: swap, rankOf: swap };
    },
  },
};

export const orderingOf = (kind: Kind): Ordering => ORDERINGS[kind.list?.order ?? 'unknown'];

/** The sort key of a record in its list. */
export interface ListPlace {
  readonly key: string;
  readonly id: number;
}

export function listPlaceOf({ by }: Ordering, id: number, record: JsonObject): ListPlace {
  const value = by === null ? null : record[by];
  return { key: typeof value === 'string' ? value : '', id };
}

/** Negative where `a` comes before `b` in the list. */
export function comparePlaces({ newestFirst }: Ordering, a: ListPlace, b: ListPlace): number {
  const ascending = a.key === b.key ? a.id - b.id : a.key < b.key ? -1 : 1;
  return newestFirst ? -ascending : ascending;
}

const GOLDEN = 0.618034;

/** Scatters the ranks over all records: rank × a step that shares no factor with `count`. */
function scattered(count: number): Permutation {
  let step = Math.max(1, Math.floor(count * GOLDEN));
  while (commonDivisor(step, count) !== 1) step++;
  const back = inverse(step, count);
  return {
    indexAt: (rank) => (rank * step) % count,
    rankOf: (index) => (index * back) % count,
  };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The number that undoes a multiplication by `step`, counted modulo `count` (extended Euclid). */
function inverse(step: number, count: number): number {
  let remainder = count;
  let next = step % count;
  let factor = 0;
  let nextFactor = 1;
  while (next > 0) {
    const quotient = Math.floor(remainder / next);
    [remainder, next] = [next, remainder - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return (factor + count) % count;
}
