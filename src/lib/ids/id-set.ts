import type { TextList } from '../text/text-list.ts';

/** Counts distinct record ids in at most eight bytes each: a Set of a million strings would use a tenth of our memory. */
interface IdSet {
  add(id: string): void;
  addAll(ids: TextList): void;
  size(): number;
}

export function createIdSet(): IdSet {
  const short = createBag((length) => new Uint32Array(length));
  const exact = createBag((length) => new Float64Array(length));
  const large = createBag((length) => new BigInt64Array(length));
  const add = (id: string): void => {
    if (id.length <= SHORT_DIGITS) short.add(Number(id));
    else if (id.length <= EXACT_DIGITS) exact.add(Number(id));
    else large.add(BigInt(id));
  };
  return {
    add,
    addAll: (ids) => {
      if (ids.joined === undefined) for (const id of ids) add(id);
      else eachOf(ids.joined, { short: short.add, long: add });
    },
    size: () => short.size() + exact.size() + large.size(),
  };
}

/** This many digits fit 32 bits; most ids are that short, and are read several times as fast. */
const [SHORT_DIGITS, EXACT_DIGITS] = [9, 15];
const [COMMA, ZERO] = [44, 48];

interface Takers {
  readonly short: (id: number) => void;
  readonly long: (id: string) => void;
}

/** Reads ids from one text with commas between: separate strings would cost more than all other work. */
function eachOf(joined: string, { short, long }: Takers): void {
  let [from, value] = [0, 0];
  for (let at = 0; at < joined.length; at++) {
    const code = joined.charCodeAt(at);
    if (code !== COMMA) {
      value = value * 10 + code - ZERO; // Rounded for long ids, which are read again.
      continue;
    }
    if (at - from <= SHORT_DIGITS) short(value);
    else long(joined.slice(from, at));
    [from, value] = [at + 1, 0];
  }
  if (from < joined.length) long(joined.slice(from));
}

interface Bag<T> {
  readonly add: (value: T) => void;
  /** The number of distinct values. */
  readonly size: () => number;
}

/** The array of numbers that a bag is kept in. */
interface Numbers<T> {
  [index: number]: T;
  readonly length: number;
  subarray(from: number, to: number): Numbers<T>;
  set(values: ArrayLike<T>): void;
  sort(): unknown;
}

function createBag<T>(create: (length: number) => Numbers<T>): Bag<T> {
  let values = create(64);
  let used = 0;
  let distinct = 0; // The first `distinct` entries are sorted and free of doubles.

  const compact = (): void => {
    values.subarray(0, used).sort();
    distinct = 0;
    for (let at = 0; at < used; at++) {
      const value = values[at];
      if (value !== undefined && (distinct === 0 || values[distinct - 1] !== value))
        values[distinct++] = value;
    }
    used = distinct;
  };

  return {
    add: (value) => {
      if (used === values.length) {
        const grown = create(used * 2);
        grown.set(values);
        values = grown;
      }
      values[used++] = value;
    },
    size: () => {
      if (distinct !== used) compact();
      return distinct;
    },
  };
}
