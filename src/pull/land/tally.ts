import { sameTexts } from '../../lib/text-list.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { ListShape } from '../../mirror/kinds/drift-store.ts';
import { createRecordCounter } from './count-records.ts';
import type { RecordCounts } from './count-records.ts';
import type { Landing } from './land-page.ts';
import type { LandedSorted } from './land-sorted.ts';

/** Counts of a reading: a page and a record count once, however often they were read. */
export interface TallyCounts extends RecordCounts {
  readonly pages: number;
}

export interface Tally {
  readonly add: (landing: Landing) => void;
  /** Counts records that no page was landed for. */
  readonly addRecords: (ids: readonly string[], landed: LandedSorted) => void;
  readonly pages: () => number;
  /** The highest page that had rows. */
  readonly lastPage: () => number;
  /** A record that the page landed last has shown; null where no page had any. */
  readonly latestId: () => string | null;
  /** A short page had others with rows after it. */
  readonly hasHoles: () => boolean;
  readonly changes: () => number;
  /** How the list was wrapped and paged. */
  readonly shape: () => ListShape;
  /** Fields that some record had. */
  readonly fields: ReadonlySet<string>;
  /** Keys of the quarantined records. */
  readonly quarantined: ReadonlySet<string>;
  readonly counts: () => TallyCounts;
}

export function createTally(): Tally {
  const records = createRecordCounter();
  const [fields, pages] = [new Set<string>(), new Set<number>()];
  let firstPage: TextList = [];
  let lastPage = 0;
  let hasHoles = false;
  let latestId: string | null = null;
  let shape: ListShape = { envelope: null, pageSize: null };

  /** A whole list may show itself as page 2. */
  const isPage = (page: number, seen: TextList): boolean =>
    page === 1 || (seen.length > 0 && !sameTexts(seen, firstPage));

  const addPage = ({ response: { page, rows, envelope, meta, plan }, seen }: Landing): void => {
    if (page === 1) [firstPage, shape] = [seen, { envelope, pageSize: meta?.perPage ?? null }];
    if (isPage(page, seen)) pages.add(page);
    if (rows > 0) lastPage = Math.max(lastPage, page);
    latestId = seen.at(0) ?? latestId;
    hasHoles ||= plan.hasHoles;
  };

  return {
    add: (landing) => {
      addPage(landing);
      records.add(landing.seen, landing);
      for (const field of landing.fields) fields.add(field);
    },
    addRecords: records.add,
    pages: () => pages.size,
    lastPage: () => lastPage,
    latestId: () => latestId,
    hasHoles: () => hasHoles,
    changes: () => {
      const { created, updated, restored } = records.counts();
      return created + updated + restored;
    },
    shape: () => shape,
    fields,
    quarantined: records.quarantined,
    counts: () => ({ pages: pages.size, ...records.counts() }),
  };
}
