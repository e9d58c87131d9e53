/** Counts distinct record ids in eight bytes each: a Set of a million strings would cost a tenth of our memory. */
export interface IdSet {
  add(id: string): void;
  size(): number;
}

export function createIdSet(): IdSet {
  let ids = new BigInt64Array(1024);
  let used = 0;
  let distinct = 0; // The first `distinct` entries are sorted and free of doubles.

  const compact = (): void => {
    const sorted = ids.subarray(0, used).sort();
    distinct = 0;
    for (const id of sorted) if (distinct === 0 || ids[distinct - 1] !== id) ids[distinct++] = id;
    used = distinct;
  };

  return {
    add: (id) => {
      if (used === ids.length) {
        const grown = new BigInt64Array(used * 2);
        grown.set(ids);
        ids = grown;
      }
      ids[used++] = BigInt(id);
    },
    size: () => {
      if (distinct !== used) compact();
      return distinct;
    },
  };
}
