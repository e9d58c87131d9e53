import type { JsonObject } from '../../src/lib/json/json.ts';

/** The facts about the whole company that a generator may use for one record. */
export interface Company {
  readonly systemId: number;
  /** A day, counted from the company's first, as `YYYY-MM-DD`. */
  dateOf(day: number): string;
  /** How many records of a kind the company began with. */
  count(kind: string): number;
  /** The id of the record that was created as number `index`, from 0. */
  idOf(kind: string, index: number): number;
  /** The random stream of this record, at its beginning. */
  randomOf(kind: string, index: number): Random;
}

/** The place of one record to make: everything about it follows from these values. */
export interface Draw {
  readonly company: Company;
  readonly random: Random;
  readonly id: number;
  /** Its number by creation, from 0. */
  readonly index: number;
  /** Its rank in the order of its list, from 0; equals the index if the list is ordered by creation. */
  readonly rank: number;
  readonly count: number;
}

export type Generate = (draw: Draw) => JsonObject;

/** The id of some record of another kind. */
export function anyId({ company, random }: Draw, kind: string): number {
  return company.idOf(kind, random.integer(0, company.count(kind) - 1));
}

/** A stream of pseudo-random values; the same origin always yields the same stream. */
export type Random = ReturnType<typeof randomFrom>;

/** Starts the stream that belongs to this origin, such as a seed, a kind and an index. */
export function randomFrom(...origin: readonly (string | number)[]) {
  let state = hash(origin.join('/'));

  // mulberry32: good enough to look natural, and four lines long.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from `least` to `most`, both included. */
  const integer = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));

  return {
    integer,
    chance: (probability: number): boolean => next() < probability,
    pick: <T>(choices: readonly T[]): T => choices[integer(0, choices.length - 1)] as T,
    /** This many decimal digits, leading zeros included. */
    digits: (count: number): string => Array.from({ length: count }, () => integer(0, 9)).join(''),
  };
}

/** FNV-1a: spreads a text over 32 bits. */
export function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return state >>> 0;
}
