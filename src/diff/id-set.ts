const IDS_A_BLOCK = 32;

/**
 * Creates a set of record ids, which are whole numbers. Most ids of a list follow each other, so 32 neighbours share a number, a
 * bit for each: a million take 2 MB, where a set of texts takes 70.
 */
export function createIdSet() {
  const blocks = new Map<number, number>();
  const large = new Set<string>(); // Beyond 2^53, where numbers are no longer exact.
  let size = 0;
  return {
    add: (id: string): void => {
      const number = Number(id);
      if (!Number.isSafeInteger(number)) {
        large.add(id);
        return;
      }
      const block = Math.floor(number / IDS_A_BLOCK);
      const before = blocks.get(block) ?? 0;
      const after = before | (1 << (number % IDS_A_BLOCK));
      if (after === before) return;
      blocks.set(block, after);
      size += 1;
    },
    has: (id: string): boolean => {
      const number = Number(id);
      if (!Number.isSafeInteger(number)) return large.has(id);
      return ((blocks.get(Math.floor(number / IDS_A_BLOCK)) ?? 0) & (1 << (number % IDS_A_BLOCK))) !== 0;
    },
    size: (): number => size + large.size,
    /** In no order. */
    ids: (): string[] => [...large, ...numbersIn(blocks)].map(String),
  };
}

export type IdSet = ReturnType<typeof createIdSet>;

function* numbersIn(blocks: ReadonlyMap<number, number>): Generator<number> {
  for (const [block, bits] of blocks)
    for (let bit = 0; bit < IDS_A_BLOCK; bit++)
      if ((bits & (1 << bit)) !== 0) yield block * IDS_A_BLOCK + bit;
}
