/** Something that the mirror claims and the ledger contradicts. */
export interface Violation {
  readonly checker: Checker;
  readonly kind: string;
  readonly detail: string;
}

export const CHECKERS = [
  'false deletion',
  'lost row',
  'invented',
  'unequal',
  'wrong column',
  'phantom event',
  'backwards',
  'broken chain',
  'undo',
  'order',
] as const;

export type Checker = (typeof CHECKERS)[number];
