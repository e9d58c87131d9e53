import { createIdSet } from '../lib/id-set.ts';
import type { ListShape } from '../mirror/drift-store.ts';
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
  readonly add: (landing: Landing) => void;
  readonly pages: () => number;
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
  const [seen, touched] = [createIdSet(), createIdSet()];
  const [fields, quarantined, pages] = [new Set<string>(), new Set<string>(), new Set<number>()];
  let [created, updated] = [0, 0];
  let firstPage = '';
  let shape: ListShape = { envelope: null, pageSize: null };

  const addPage = ({ response: { page, envelope, meta }, seen: ids }: Landing): void => {
    const shown = ids.join();
    if (page === 1) [firstPage, shape] = [shown, { envelope, pageSize: meta?.perPage ?? null }];
    if (page === 1 || (shown !== '' && shown !== firstPage)) pages.add(page); // A whole list may show itself as page 2.
  };
  const add = (landing: Landing): void => {
    addPage(landing);
    created += landing.created.length;
    updated += landing.changed.length;
    for (const id of landing.seen) seen.add(id);
    for (const id of [...landing.created, ...landing.changed]) touched.add(id);
    for (const field of landing.fields) fields.add(field);
    for (const key of landing.quarantined) quarantined.add(key);
  };
  const counts = (): TallyCounts => {
    const rows = seen.size();
    const unchanged = rows - touched.size();
    return { pages: pages.size, rows, created, updated, unchanged, quarantined: quarantined.size };
  };
  return {
    add,
    counts,
    pages: () => pages.size,
    changes: () => created + updated,
    shape: () => shape,
    fields,
    quarantined,
  };
}
