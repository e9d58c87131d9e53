import type { Stage } from './stage.ts';
import type { DatabaseName, Exactness, Sort } from './mirrors.ts';

/** What a client gave for a question: names and types of the columns, every value as text. */
export interface Answer {
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The output of a client: the output of the page's own lines, and an answer, or its error, for each question. */
export interface ClientAnswers {
  readonly printed: string;
  readonly answers: readonly (Answer | { readonly error: string })[];
}

/** A page of docs/reporting with the heading under which it connects to the database. */
export interface Connected {
  readonly page: string;
  readonly section: string;
  /** The page's code reads the snapshot of the mirror in the place of its file. */
  readonly snapshot?: true;
}

export type Ask = (
  stage: Stage,
  connected: Connected,
  questions: readonly string[],
) => Promise<ClientAnswers>;

/** A client on one database, as its page connects it, and what is known of it. */
export interface Client extends Connected {
  readonly name: string;
  readonly database: DatabaseName;
  readonly ask: Ask;
  /** Its page has code to run, which prints the exact total of all purchase lines, and the bookings of each month. */
  readonly runs?: true;
  readonly exactness: Exactness;
  /** The names that it may give the type of a column, by the sort of its values; null if it has no types. */
  readonly types: Types | null;
  /** It takes the type of a column from the values: of nulls alone it can be any. */
  readonly guesses?: true;
  /** Values of these sorts come wrong, as its page says. */
  readonly cannot?: readonly Sort[];
  /** Views that it cannot read, and views whose values it takes for texts, as its page says. */
  readonly unread?: readonly string[];
  readonly untyped?: readonly string[];
}

export type Types = Readonly<Record<Sort, readonly string[]>>;

export const EXACT: Exactness = { integers: 'exact', decimals: 'exact' };
export const DOUBLES: Exactness = { integers: 'exact', decimals: 'double' };
export const DIGITS_15: Exactness = { integers: 'exact', decimals: '15 digits' };

/** Types as a client names them, with ` | ` between alternatives. */
export function types(names: Readonly<Record<Sort, string>>): Types {
  const split = (sort: Sort): readonly string[] => names[sort].split(' | ');
  return {
    integer: split('integer'),
    decimal: split('decimal'),
    text: split('text'),
    date: split('date'),
    time: split('time'),
    timestamp: split('timestamp'),
    instant: split('instant'),
  };
}
