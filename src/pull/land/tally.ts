import { createIdSet, type IdSet } from '../../diff/id-set.ts';
import { isUnusualEnvelope } from '../../source/http/read-answer.ts';
import type { ListShape } from '../../store/kinds/kind-lease.ts';
import type { Landing } from './land-pages.ts';
import type { LandedRecords } from './land-records.ts';

/** Counts in how many records each field has changed: a record that is read twice in a sweep counts once. */
function countFields(counts: Map<string, number>, records: LandedRecords, changedIds: IdSet): void {
  for (const [id, names] of records.fieldsChanged) {
    if (changedIds.has(id)) continue;
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

/** How a list is wrapped and paged: as its first page is, unless another one is wrapped oddly. */
function mergeShape(shape: ListShape, response: Landing['response']): ListShape {
  const first =
    response.page === 1 ? { envelope: response.envelope, pageSize: response.meta?.perPage ?? null } : shape;
  const odd = [response.envelope, shape.envelope].find(
    (envelope) => envelope !== null && isUnusualEnvelope(envelope),
  );
  return odd === undefined ? first : { ...first, envelope: odd };
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);

export type Tally = ReturnType<typeof createTally>;

/** A list, as its pages have shown it. */
interface ShownList {
  /** How it was wrapped and paged. */
  shape: ListShape;
  /** The highest page that had rows. */
  lastPage: number;
  /** A short page was followed by pages with rows. */
  hasHoles: boolean;
  /** The most rows of a whole list that came again as a later page. */
  wholeRows: number;
  /** A record of the page that was landed last; null if no page had any. */
  latestId: string | null;
}

/** Counts the landed pages and records of a reading. */
export function createTally() {
  const seen = createIdSet();
  const changedIds = createIdSet();
  const quarantined = new Set<string>();
  const holders = new Set<string>();
  const fields = new Set<string>();
  const fieldsChanged = new Map<string, number>();
  const pages = new Map<number, number>(); // The rows of each, as read last.
  const changes = { created: 0, updated: 0, restored: 0 };
  const shape = { envelope: null, pageSize: null };
  const list: ShownList = { shape, lastPage: 0, hasHoles: false, wholeRows: 0, latestId: null };

  const addRecords = (ids: readonly string[], landed: LandedRecords): void => {
    changes.created += landed.created.length;
    changes.updated += landed.changed.length;
    changes.restored += landed.restored.length;
    for (const key of landed.quarantined) quarantined.add(key);
    countFields(fieldsChanged, landed, changedIds);
    for (const id of ids) seen.add(id);
    for (const id of [...landed.created, ...landed.changed, ...landed.restored]) changedIds.add(id);
  };

  return {
    add: (landing: Landing): void => {
      const { response, seen: ids } = landing;
      const { page, walk, rows } = response;
      if (page === 1 || ids.length > 0 || pages.has(page)) pages.set(page, ids.length);
      list.shape = mergeShape(list.shape, response);
      if (rows > 0) list.lastPage = Math.max(list.lastPage, page);
      list.latestId = ids.at(0) ?? list.latestId;
      list.hasHoles ||= walk.hasHoles;
      list.wholeRows = Math.max(list.wholeRows, walk.wholeListRows ?? 0);
      holders.add(response.holder);
      addRecords(ids, landing);
      for (const field of landing.fields) fields.add(field);
    },
    /** Counts records that were landed without a page. */
    addRecords,
    list: list as Readonly<ShownList>,
    pages: () => pages.size,
    /** Records on the first page. */
    firstPageRows: () => pages.get(1) ?? 0,
    /** Whose tokens have asked for the pages, by their digests. */
    holders: holders as ReadonlySet<string>,
    /** The ids of the records that were read. */
    ids: seen.ids,
    /** In how many records each field has changed. */
    fieldsChanged: fieldsChanged as ReadonlyMap<string, number>,
    /** Whether the pages have more rows than there are records: some page shows a record of another one. */
    isDoubled: () => sum(pages.values()) > seen.size(),
    /** Fields that some record had. */
    fields: fields as ReadonlySet<string>,
    /** Keys of the quarantined records. */
    quarantined: quarantined as ReadonlySet<string>,
    /** A page and a record count once, however often they were read. */
    counts: () => ({
      ...changes,
      pages: pages.size,
      rows: seen.size(),
      unchanged: seen.size() - changedIds.size(),
      quarantined: quarantined.size,
    }),
  };
}
