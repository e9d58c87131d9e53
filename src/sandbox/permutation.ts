/** Which record, by creation, stands at which rank; both ways in constant time, so that no list is ever built. */
export interface Permutation {
  readonly indexAt: (rank: number) => number;
  readonly rankOf: (index: number) => number;
}

export const identity: Permutation = { indexAt: (rank) => rank, rankOf: (index) => index };

const GOLDEN = 0.618034;

/** Scatters the ranks over all records: rank × a step that shares no factor with `count`. */
export function scattered(count: number): Permutation {
  let step = Math.max(1, Math.floor(count * GOLDEN));
  while (commonDivisor(step, count) !== 1) step++;
  const back = inverse(step, count);
  return {
    indexAt: (rank) => (rank * step) % count,
    rankOf: (index) => (index * back) % count,
  };
}

/** Swaps neighbours 0-1, 2-3, … where they may be swapped, so that a list sorted by something stays sorted by it. */
export function neighboursSwapped(count: number, maySwap: (a: number, b: number) => boolean): Permutation {
  const swap = (at: number): number => {
    const neighbour = at % 2 === 0 ? at + 1 : at - 1;
    return neighbour < count && maySwap(at, neighbour) ? neighbour : at;
  };
  return { indexAt: swap, rankOf: swap };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The number that undoes a multiplication by `step`, counted modulo `count` (extended Euclid). */
function inverse(step: number, count: number): number {
  let [remainder, next, factor, nextFactor] = [count, step % count, 0, 1];
  while (next > 0) {
    const quotient = Math.floor(remainder / next);
    [remainder, next] = [next, remainder - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return (factor + count) % count;
}
