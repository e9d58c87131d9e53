import type { TextList } from '../text/text-list.ts';

/** Counts distinct record ids in 8 to 32 bytes each: a Set of a million strings would use a tenth of our memory. */
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
interface Numbers<T> extends Iterable<T> {
  [index: number]: T;
  readonly length: number;
}

/** A hash table with open addressing, at most half full. A place with zero is free; zero itself is counted apart. */
function createBag<T extends number | bigint>(create: (length: number) => Numbers<T>): Bag<T> {
  let places = create(64);
  let used = 0;
  let hasZero = false;

  const take = (value: T): void => {
    const last = places.length - 1;
    let at = hash(value) & last;
    while (places[at] !== value) {
      if (!places[at]) {
        places[at] = value;
        used++;
        return;
      }
      at = (at + 1) & last;
    }
  };

  const grow = (): void => {
    const before = places;
    places = create(before.length * 2);
    used = 0;
    for (const value of before) if (value) take(value);
  };

  return {
    add: (value) => {
      if (!value) hasZero = true;
      else take(value);
      if (used * 2 > places.length) grow();
    },
    size: () => used + (hasZero ? 1 : 0),
  };
}

/** Spreads ids that follow one another: Fibonacci hashing of both halves of 64 bits. */
function hash(value: number | bigint): number {
  const [low, high] =
    typeof value === 'number'
      ? [value, value / 2 ** 32]
      : [Number(value & 0xffffffffn), Number(value >> 32n)];
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
