import type { Kind } from '../../catalog/kind.ts';
import type { SeenField } from '../../diff/observe-fields.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { renewLease, type KindLease } from '../../store/kinds/kind-lease.ts';
import type { SourceClaim, KindTenants } from '../../store/kinds/source-binding.ts';
import type { DirtyRows, StoredPage } from '../../store/sightings/page-store.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import type { PullParts } from './parts.ts';

/** The run of a reading between sweeps, which belongs to none: its events name no run. */
export const NO_RUN = 0;

/** The fixed facts of a sweep, and the state that landing adds to. */
export interface Sweep {
  readonly kind: Kind;
  readonly lease: KindLease;
  readonly runId: number;
  readonly claim: SourceClaim;
  readonly tenants: KindTenants;
  readonly ticks: Ticks;
  /** The tick at which it began, which names it; null where only some pages are read. */
  readonly began: number | null;
  /** Pages of this list have had holes: only an empty page ends it. */
  readonly hasHoles: boolean;
  /** Live rows before the sweep. */
  readonly knownRows: number;
  /** The most rows with which this list was seen to answer whole, whichever page was asked for. */
  readonly wholeUpTo: number;
  /** Names the token, the decoder and the settings under which a page may go unparsed. */
  readonly digestScope: string;
  /** Fields whose changes are no events. */
  readonly ignoredFields: ReadonlySet<string>;
  /** The pages as last landed; landing does not change it. */
  readonly pages: ReadonlyMap<number, StoredPage>;
  /** Sightings from before this sweep. */
  readonly earlier: EarlierSightings;
  /** Whether columns are compared with the decoding of their records: another writer may have altered them. */
  readonly comparesColumns: boolean;
  readonly state: SweepState;
}

/** The first of the kept list responses that showed a record. */
export interface FirstSighting {
  /** The tick that its row has for its first list sighting: before all that is kept, where the oldest kept sweep showed it. */
  readonly listed: number;
  readonly seenAt: string;
}

/** Sightings from before the present sweep. A few records are looked up one by one; for more, all sightings are loaded. */
export interface EarlierSightings {
  readonly find: (db: Queryable, id: string) => Promise<FirstSighting | null>;
  /** Frees the loaded sightings, which may be large. */
  readonly release: () => void;
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
    leap: (tick: number): void => {
      latest = Math.max(latest, tick);
    },
  };
}

/** The state that landing adds to. */
interface SweepState {
  /** Rows written again since the oldest known page was landed. */
  readonly touched: TouchedRows;
  /** Keys of the open issues about whole records. */
  readonly quarantined: { has(key: string): boolean; add(key: string): void };
  /** The fields' observed values so far. */
  readonly fields: Map<string, SeenField>;
  /** The latest request whose response has landed in this sweep. */
  readonly newest: { sent: number };
  /** Ids that an outbox entry is changing, or has changed without an answer; every landing reads them again. */
  readonly sending: ReadonlySet<string>;
  /** A transaction's overlay: a rolled-back transaction leaves no trace, and nothing large is copied. */
  draft(sending: ReadonlySet<string>): SweepDraft;
}

interface SweepDraft extends SweepState {
  /** The transaction has landed. */
  keep(): void;
}

interface TouchedRows {
  /** The response that wrote the row last; 0 where none has. */
  lastWrite(id: string): number;
  isEmpty(): boolean;
  /** The latest response that wrote any row. */
  latest(): number;
  add(touches: DirtyRows): void;
}

const UNTOUCHED: TouchedRows = {
  lastWrite: () => 0,
  isEmpty: () => true,
  latest: () => 0,
  add: () => undefined,
};

export function createSweepState({
  touched,
  quarantined,
  fields,
}: {
  readonly touched: DirtyRows;
  readonly quarantined: ReadonlySet<string>;
  readonly fields: ReadonlyMap<string, SeenField>;
}): SweepState {
  const known = { touched: UNTOUCHED, quarantined: new Set(quarantined), fields: new Map(fields) };
  const state = draftOf({ ...known, newest: { sent: 0 } }, new Set());
  state.touched.add(touched);
  return state;
}

type Below = Pick<SweepState, 'touched' | 'quarantined' | 'fields' | 'newest'>;

function draftOf(below: Below, sending: ReadonlySet<string>): SweepDraft {
  const writes = new Map<string, number>();
  const keys = new Set<string>();
  const fields = new Map(below.fields);
  const newest = { ...below.newest };
  let latest = below.touched.latest();
  const draft: SweepDraft = {
    touched: {
      lastWrite: (id) => Math.max(writes.get(id) ?? 0, below.touched.lastWrite(id)),
      isEmpty: () => writes.size === 0 && below.touched.isEmpty(),
      latest: () => latest,
      add: (touches) => {
        for (const [id, response] of touches) {
          writes.set(id, Math.max(writes.get(id) ?? 0, response));
          latest = Math.max(latest, response);
        }
      },
    },
    quarantined: {
      has: (key) => keys.has(key) || below.quarantined.has(key),
      add: (key) => {
        keys.add(key);
      },
    },
    fields,
    newest,
    sending,
    draft: (more) => draftOf(draft, more),
    keep: () => {
      below.touched.add(writes);
      for (const key of keys) below.quarantined.add(key);
      for (const [field, seen] of fields) below.fields.set(field, seen);
      below.newest.sent = newest.sent;
    },
  };
  return draft;
}

/**
 * Whether a row may differ from its page as last landed: another response wrote it after the page was requested, or an
 * outbox entry is changing it.
 */
export function hasOtherWrites(
  ids: readonly string[],
  { sent, response }: StoredPage,
  { touched, sending }: SweepState,
): boolean {
  if (touched.isEmpty() && sending.size === 0) return false;
  for (const id of ids) {
    const write = touched.lastWrite(id);
    if (sending.has(id) || (write > sent && write !== response)) return true;
  }
  return false;
}

/**
 * Runs a transaction of a sweep, and renews its lease.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function underLease<T>(
  { session, clock }: PullParts,
  { lease, ticks }: Sweep,
  work: (tx: Transaction, now: Date) => Promise<T>,
): Promise<T> {
  const tick = ticks.latest();
  const now = clock.now();
  return session.atomically(async (tx) => {
    await renewLease(tx, lease, { tick, now });
    return work(tx, now);
  });
}
