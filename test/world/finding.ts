import type { Recording } from './history.ts';
import type { Records } from './records.ts';
import type { Pull } from './stage.ts';

/** Something that must never be, and was. */
export interface Finding {
  readonly invariant: Invariant;
  readonly detail: string;
  /** The service has answered one of these sends by saying that it did it. */
  readonly wasAnswered?: boolean;
  /** What a finding about a certificate goes by. */
  readonly evidence?: Evidence;
}

/** The sweeps of a kind whose readings may have certified it: the last three. */
export interface Evidence {
  readonly kind: string;
  readonly fromMs: number;
  readonly toMs: number;
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
  | 'unnoticed'
  | 'unread'
  | 'misled';

export type Found = readonly Finding[];

export function evidenceOf({ pulls }: Recording, kind: string, pull: Pull): Evidence {
  const sorted = pulls.toSorted((a, b) => a.fromMs - b.fromMs); // One that stood still has ended after a later one.
  const first = sorted[Math.max(0, sorted.indexOf(pull) - 2)] ?? pull;
  return { kind, fromMs: first.fromMs, toMs: pull.toMs };
}

export function recordsOf({ service }: Recording, name: string): Records {
  const records = service.records.get(name);
  if (records === undefined) throw new TypeError(`Nothing is served of ${name}.`);
  return records;
}
