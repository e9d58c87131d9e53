import type { JsonObject } from '../../lib/json/json.ts';
import type { Random } from '../random.ts';

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
  /** How many records of its kind there are. */
  readonly count: number;
}

export type Generate = (draw: Draw) => JsonObject;

/** The id of some record of another kind. */
export function anyId({ company, random }: Draw, kind: string): number {
  return company.idOf(kind, random.integer(0, company.count(kind) - 1));
}
