import type { Content } from './records.ts';
import { differing } from './records.ts';

/** What a record was like from some instant on. */
export interface RecordState {
  readonly sinceMs: number;
  readonly content: Content;
  /** As the service writes it. */
  readonly text: string;
}

/** `hidden`: the service shows it nowhere and will show it again; `gone`: it never comes back. */
export type Presence = 'listed' | 'hidden' | 'gone';

/** Everything that was ever true of a record. */
export interface History {
  readonly id: string;
  readonly states: readonly RecordState[];
  readonly presences: readonly { readonly sinceMs: number; readonly presence: Presence }[];
}

/** The truth about one kind: what the checkers, and nobody else, may know. */
export interface Ledger {
  readonly kind: string;
  readonly histories: ReadonlyMap<string, History>;
  note(
    id: string,
    sinceMs: number,
    change: { readonly state?: RecordState; readonly presence?: Presence },
  ): void;
  /** Forgets the records that are gone, and of the others every content but the present one, however it was spelled. */
  forgetPast(): void;
}

export function createLedger(kind: string): Ledger {
  const histories = new Map<string, History>();
  return {
    kind,
    histories,
    note: (id, sinceMs, { state, presence }) => {
      const { states, presences } = histories.get(id) ?? { states: [], presences: [] };
      histories.set(id, {
        id,
        states: state ? [...states, state] : states,
        presences: presence ? [...presences, { sinceMs, presence }] : presences,
      });
    },
    forgetPast: () => {
      for (const [id, history] of [...histories]) {
        if (presenceNow(history) === 'gone') histories.delete(id);
        else histories.set(id, presentOf(history));
      }
    },
  };
}

function presentOf({ id, states, presences }: History): History {
  const now = states.at(-1)?.content ?? new Map<never, never>();
  const spellings = new Map(states.map((state) => [state.text, state])).values();
  return {
    id,
    states: [...spellings].filter(({ content }) => differing(content, now).length === 0),
    presences: presences.length > 2 ? [...presences.slice(0, 1), ...presences.slice(-1)] : presences,
  };
}

export function bornMs({ presences }: History): number {
  return presences[0]?.sinceMs ?? Infinity;
}

export function presenceAt({ presences }: History, ms: number): Presence | 'unborn' {
  return presences.findLast(({ sinceMs }) => sinceMs <= ms)?.presence ?? 'unborn';
}

export function presenceNow({ presences }: History): Presence | 'unborn' {
  return presences.at(-1)?.presence ?? 'unborn';
}

/** Whether the service showed a record all the time between two instants, both included. */
export function wasListedThroughout(history: History, { fromMs, toMs }: Span): boolean {
  const inBetween = history.presences.filter(({ sinceMs }) => sinceMs > fromMs && sinceMs <= toMs);
  return presenceAt(history, fromMs) === 'listed' && inBetween.every(({ presence }) => presence === 'listed');
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The present content of a record. */
export function stateNow({ states }: History): RecordState | undefined {
  return states.at(-1);
}

/** Whether two texts say the same of a record: both are its own, and no value differs. */
export function isSameContent(history: History, text: string, other: string): boolean {
  const [a, b] = [text, other].map((one) => history.states.find((state) => state.text === one));
  return a !== undefined && b !== undefined && differing(a.content, b.content).length === 0;
}
