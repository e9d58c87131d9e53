import { createIdSet } from '../lib/id-set.ts';
import type { Landed } from './land-records.ts';

/** Counts of a reading: a record counts once, however often it was read. */
export interface RecordCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly restored: number;
  readonly unchanged: number;
}

export interface RecordCounter {
  readonly add: (ids: readonly string[], landed: Landed) => void;
  readonly counts: () => RecordCounts;
}

export function createRecordCounter(): RecordCounter {
  const [seen, touched] = [createIdSet(), createIdSet()];
  let [created, updated, restored] = [0, 0, 0];
  return {
    add: (ids, landed) => {
      created += landed.created.length;
      updated += landed.changed.length;
      restored += landed.restored.length;
      for (const id of ids) seen.add(id);
      for (const id of [...landed.created, ...landed.changed, ...landed.restored]) touched.add(id);
    },
    counts: () => {
      const rows = seen.size();
      return { rows, created, updated, restored, unchanged: rows - touched.size() };
    },
  };
}
