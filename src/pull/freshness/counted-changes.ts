import { instantOf } from '../../lib/time/clock.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import { readChangesSince } from '../../mirror/sightings/watched-store.ts';
import type { NotedChange } from '../../mirror/sightings/watched-store.ts';
import { countChanges, startHistory } from './change-rates.ts';
import type { ChangeHistory, CountedChange } from './change-rates.ts';
import { withoutRestless } from './restless-records.ts';
import type { ChangeStreaks } from './restless-records.ts';

/** The latest change events, by kind, as rates are counted from them. */
export interface CountedChanges {
  /** Reads the events that have come since the last call; returns them by kind. */
  readonly read: (db: Queryable) => Promise<ReadonlyMap<string, readonly CountedChange[]>>;
  /** The history of a kind whose changes are events since an instant. */
  readonly historyOf: (kind: string, span: HistorySpan) => ChangeHistory;
}

interface HistorySpan {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** By these, records are restless, and their updates do not count. */
  readonly streaks: ChangeStreaks;
}

/** A longer history tells no more: an event weighs half after half a day. */
const KEPT_MS = 2 * 86_400_000;
const MOST_EVENTS = 50_000;

export function createCountedChanges(): CountedChanges {
  const kept = new Map<string, CountedChange[]>();
  let [seq, fromMs] = [0, 0];
  return {
    read: async (db) => {
      const notes = await readChangesSince(db, seq, MOST_EVENTS);
      const isCut = notes.length === MOST_EVENTS; // Earlier events are not known.
      if (isCut) fromMs = instantOf(notes[0]?.observedAt ?? '').getTime();
      seq = notes.at(-1)?.seq ?? seq;
      const fresh = byKind(notes);
      for (const [kind, changes] of fresh) kept.set(kind, lately([...(kept.get(kind) ?? []), ...changes]));
      return fresh;
    },
    historyOf: (kind, { sinceMs, nowMs, streaks }) => {
      const from = Math.max(sinceMs, fromMs, nowMs - KEPT_MS);
      const recent = (kept.get(kind) ?? []).filter(({ atMs }) => atMs >= from);
      kept.set(kind, recent);
      return countChanges(startHistory(from), withoutRestless(recent, streaks));
    },
  };
}

/** Without those that are older than a history. */
function lately(changes: readonly CountedChange[]): CountedChange[] {
  const oldest = (changes.at(-1)?.atMs ?? 0) - KEPT_MS;
  return changes.filter(({ atMs }) => atMs >= oldest);
}

function byKind(notes: readonly NotedChange[]): Map<string, CountedChange[]> {
  const changes = new Map<string, CountedChange[]>();
  for (const { kind, change, recordId: id, observedAt, origin } of notes) {
    if (origin !== 'service') continue; // Our own writes are known without a reading.
    const counted = { change: change === 'restored' ? 'created' : change, id } as const;
    const ofKind = changes.get(kind) ?? [];
    ofKind.push({ ...counted, atMs: instantOf(observedAt).getTime() });
    changes.set(kind, ofKind);
  }
  return changes;
}
