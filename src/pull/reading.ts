import type { Kind, ListedKind } from '../catalog/kind.ts';
import type { SeenField } from '../diff/observe-fields.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { KnownField } from '../store/kinds/field-store.ts';
import { renewLease, type KindLease } from '../store/kinds/kind-lease.ts';
import type { SourceBinding, KindCompanies } from './source-binding.ts';
import type { DirtyRows, StoredPage } from '../store/sightings/page-store.ts';
import type { Transaction } from '../db/session/session.ts';
import type { PullParts, ReadingRules } from './parts.ts';

/** The fixed facts of a reading of a kind, and the state that landing adds to. */
export interface KindReading<K extends Kind = Kind> {
  readonly kind: K;
  readonly lease: KindLease;
  /** Null between sweeps: events of such a reading name no run. */
  readonly runId: number | null;
  readonly binding: SourceBinding;
  readonly companies: KindCompanies;
  readonly ticks: Ticks;
  /** The tick at which its sweep began, which names it; null where only some pages or records are read. */
  readonly began: number | null;
  /** Names the decoder and the settings under which a page may go unparsed. */
  readonly rulesDigest: string;
  /** Fields whose changes cause no events. */
  readonly ignoredFields: ReadonlySet<string>;
  /** The fields as known before it. */
  readonly fields: ReadonlyMap<string, KnownField>;
  /** The pages as last landed; landing does not change it. */
  readonly pages: ReadonlyMap<number, StoredPage>;
  readonly state: ReadingState;
}

/** A reading of a whole list, which may prove what the list lacks. */
export interface Sweep extends KindReading<ListedKind> {
  readonly runId: number;
  readonly began: number;
  readonly rules: ReadingRules;
  /** Pages of this list have had holes: only an empty page ends it. */
  readonly hasHoles: boolean;
  /** Live rows before the sweep. */
  readonly knownRows: number;
  /** The most rows in one response that had the whole list, whichever page was requested. */
  readonly maxWholeRows: number;
}

/** A kind's counter while its lease is held: every request takes a tick when it is sent and one when it is answered. */
export type Ticks = ReturnType<typeof createTicks>;

export function createTicks(from: number, clock: Clock) {
  const instants = new Map<number, number>();
  let latest = from;
  return {
    next: () => {
      instants.set(++latest, clock.now().getTime());
      return latest;
    },
    /** The instant at which a tick was taken. */
    instantOf: (tick: number) => new Date(instants.get(tick) ?? clock.now().getTime()),
    latest: () => latest,
    /** Continues from a later tick, after a write has raised the counter. */
    advanceTo: (tick: number): void => {
      latest = Math.max(latest, tick);
    },
  };
}

/** The state of a list, as landing has learned it; a transaction collects its effects apart, in the same form, until it has landed. */
export interface ReadingState {
  /** Rows written again since the oldest known page was landed, each with the response that wrote it last. */
  readonly dirty: Map<string, number>;
  /** The latest response that wrote any row. */
  latestWrite: number;
  /** Keys of the open issues about whole records. */
  readonly quarantined: Set<string>;
  readonly fields: Map<string, SeenField & { readonly vanishedAt?: string | null }>;
  /** The latest request whose response has landed in this reading. */
  newestSent: number;
}

export function createReadingState(
  dirty: DirtyRows,
  quarantined: Iterable<string>,
  fields: ReadonlyMap<string, SeenField>,
): ReadingState {
  const known = { quarantined: new Set(quarantined), fields: new Map(fields) };
  const state = { dirty: new Map<string, number>(), latestWrite: 0, ...known, newestSent: 0 };
  noteWrites(state, dirty);
  return state;
}

/** Creates the effects of a transaction that has done nothing yet: few are collected, and nothing large is copied. */
export function noEffects(state: ReadingState): ReadingState {
  return {
    dirty: new Map(),
    latestWrite: state.latestWrite,
    quarantined: new Set(),
    fields: new Map(state.fields),
    newestSent: state.newestSent,
  };
}

/** Applies the effects of a transaction once it has landed; one that was rolled back leaves no trace. */
export function applyEffects(state: ReadingState, effects: ReadingState): void {
  noteWrites(state, effects.dirty);
  for (const key of effects.quarantined) state.quarantined.add(key);
  for (const [field, seen] of effects.fields) state.fields.set(field, seen);
  state.newestSent = effects.newestSent;
}

/** Notes which responses wrote rows. */
export function noteWrites(state: ReadingState, writes: DirtyRows): void {
  for (const [id, response] of writes) {
    state.dirty.set(id, Math.max(state.dirty.get(id) ?? 0, response));
    state.latestWrite = Math.max(state.latestWrite, response);
  }
}

/**
 * Whether a row may differ from its page as last landed: another response wrote it after the page was requested, or an
 * outbox entry is changing it.
 */
export function hasOtherWrites(
  ids: readonly string[],
  page: StoredPage,
  // What is known of written rows before a transaction, or within it.
  { state, effects, sending }: { state: ReadingState; effects?: ReadingState; sending?: ReadonlySet<string> },
): boolean {
  if (state.dirty.size + (effects?.dirty.size ?? 0) + (sending?.size ?? 0) === 0) return false;
  return ids.some((id) => {
    const write = Math.max(state.dirty.get(id) ?? 0, effects?.dirty.get(id) ?? 0);
    return sending?.has(id) === true || (write > page.sent && write !== page.response);
  });
}

/** Runs a transaction of a reading, and renews its lease. @throws {LeaseError} If another owner has taken the kind over; nothing lands. */
export async function withLease<T>(
  parts: PullParts,
  reading: KindReading,
  work: (tx: Transaction, now: Date) => Promise<T>,
): Promise<T> {
  const tick = reading.ticks.latest();
  const now = parts.clock.now();
  return parts.session.atomically(async (tx) => {
    await renewLease(tx, reading.lease, tick);
    return work(tx, now);
  });
}
