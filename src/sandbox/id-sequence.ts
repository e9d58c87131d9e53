import { hash } from './random.ts';

const COMPANY_RANGE = 10_000_000;
const STRIDE = 2;

/** The largest company whose ids stay within its range: two records to a client, one id in two unused. */
export const LARGEST_SIZE = 2_000_000;

/** The ids of one kind: rising with creation, with holes where records of the past are gone. */
interface IdSequence {
  idOf(index: number): number;
  /** The index of the record with this id, or -1 where the id is in a hole or below the first. */
  indexOf(id: number): number;
}

/** Companies have ranges of their own, so that no id of one is ever an id of another. */
export function idSequence(systemId: number, firstId: number): IdSequence {
  const start = systemId * COMPANY_RANGE + firstId;
  const idOf = (index: number): number => start + index * STRIDE + (hash(`${firstId}/${index}`) % STRIDE);
  return {
    idOf,
    indexOf: (id) => {
      const index = Math.floor((id - start) / STRIDE);
      return index >= 0 && idOf(index) === id ? index : -1;
    },
  };
}
