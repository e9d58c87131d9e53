/**
 * A set of 64-bit integers in eight bytes each. A look-up sorts the ids added since the last one, so add all ids
 * first.
 */
export interface IdList {
  add(id: bigint): void;
  has(id: bigint): boolean;
  size(): number;
  /** All of them, in their order. */
  values(): Iterable<bigint>;
}

export function createIdList(): IdList {
  let ids = new BigInt64Array(16);
  let used = 0;
  let isSorted = true; // … and without duplicates.

  const sorted = (): BigInt64Array => {
    if (isSorted) return ids.subarray(0, used);
    const all = ids.subarray(0, used).sort();
    used = 0;
    for (const id of all) if (used === 0 || ids[used - 1] !== id) ids[used++] = id;
    isSorted = true;
    return ids.subarray(0, used);
  };

  return {
    add: (id) => {
      if (used === ids.length) {
        const grown = new BigInt64Array(used * 2);
        grown.set(ids);
        ids = grown;
      }
      isSorted &&= used === 0 || (ids[used - 1] ?? id) < id;
      ids[used++] = id;
    },
    has: (id) => includes(sorted(), id),
    size: () => sorted().length,
    values: () => sorted(),
  };
}

function includes(sorted: BigInt64Array, id: bigint): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? id) < id) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low] === id;
}
