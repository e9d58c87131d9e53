import type { Recording } from './history.ts';
import type { Records } from './records.ts';

/** Something that must never be, and was. */
export interface Finding {
  readonly invariant: Invariant;
  readonly detail: string;
  /** The service has answered one of these sends by saying that it did it. */
  readonly wasAnswered?: boolean;
}

export type Invariant =
  | 'doubled'
  | 'lost'
  | 'denied'
  | 'falsely certified'
  | 'falsely deleted'
  | 'overwritten'
  | 'open for ever'
  | 'broken chain'
  | 'unequal'
  | 'invented'
  | 'wrong event'
  | 'unjournalled'
  | 'leaked'
  | 'misdirected'
  | 'falsely gone'
  | 'false conflict'
  | 'taken back'
  | 'unnoticed';

export type Found = readonly Finding[];

export function recordsOf({ service }: Recording, name: string): Records {
  const records = service.records.get(name);
  if (records === undefined) throw new TypeError(`Nothing is served of ${name}.`);
  return records;
}
