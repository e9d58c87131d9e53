import { createIdSet } from '../lib/id-set.ts';
import type { Landing } from './land-page.ts';

/** Counts of a sweep: a page and a record count once, however often they were read. */
export interface TallyCounts {
  readonly pages: number;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly quarantined: number;
}

export interface Tally {
  add(landing: Landing): void;
  readonly pages: number;
  readonly changes: number;
  /** Keys of the quarantined records. */
  readonly quarantined: ReadonlySet<string>;
  counts(): TallyCounts;
}

export function createTally(): Tally {
  const seen = createIdSet();
  const touched = createIdSet();
  const quarantined = new Set<string>();
  const pages = new Set<number>();
  let [created, updated] = [0, 0];

  return {
    add: (landing) => {
      if (landing.page === 1 || landing.seen.length > 0) pages.add(landing.page);
      created += landing.created.length;
      updated += landing.changed.length;
      for (const id of landing.seen) seen.add(id);
      for (const id of [...landing.created, ...landing.changed]) touched.add(id);
      for (const key of landing.quarantined) quarantined.add(key);
    },
    get pages() {
      return pages.size;
    },
    get changes() {
      return created + updated;
    },
    quarantined,
    counts: () => {
      const rows = seen.size();
      return {
        pages: pages.size,
        rows,
        created,
        updated,
        unchanged: rows - touched.size(),
        quarantined: quarantined.size,
      };
    },
  };
}
