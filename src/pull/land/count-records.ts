import { createIdSet } from '../../lib/id-set.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { LandedSorted } from './land-sorted.ts';

/** Counts of a reading: a record counts once, however often it was read. */
export interface RecordCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly restored: number;
  readonly unchanged: number;
  /** Records that are as they were, and whose rows were not. */
  readonly mended: number;
  readonly quarantined: number;
}

export interface RecordCounter {
  readonly add: (ids: TextList, landed: LandedSorted) => void;
  /** Keys of the records that no row could be made of. */
  readonly quarantined: ReadonlySet<string>;
  readonly counts: () => RecordCounts;
}

export function createRecordCounter(): RecordCounter {
  const [seen, touched, mended] = [createIdSet(), createIdSet(), createIdSet()];
  const quarantined = new Set<string>();
  let [created, updated, restored] = [0, 0, 0];
  return {
    quarantined,
    add: (ids, landed) => {
      created += landed.created.length;
      updated += landed.changed.length;
      restored += landed.restored.length;
      for (const key of landed.quarantined) quarantined.add(key);
      seen.addAll(ids);
      for (const id of [...landed.created, ...landed.changed, ...landed.restored]) touched.add(id);
      for (const id of landed.mended) mended.add(id);
    },
    counts: () => {
      const rows = seen.size();
      const unchanged = rows - touched.size() - mended.size();
      const counts = { rows, created, updated, restored, unchanged, mended: mended.size() };
      return { ...counts, quarantined: quarantined.size };
    },
  };
}
