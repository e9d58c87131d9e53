import type { Meta } from '../../src/source/http/read-answer.ts';

/** A list at one instant, and how many more changes it may undergo. */
export interface ListState {
  readonly rows: readonly number[];
  /** The id of the next new row: an id that is gone does not come back. */
  readonly nextId: number;
  readonly changesLeft: number;
}

/** What a page of a list shows. Equal pages are one object, so that what is derived from them is derived once. */
export interface Shown {
  readonly page: number;
  readonly rows: readonly number[];
  readonly keys: readonly string[];
  readonly ids: string;
  readonly meta: Meta;
}

/** The lists that come of a small one, and their pages, each made once. */
export interface ListStates {
  /** Every list that one or more changes lead to; the ones that differ in nothing but the way are one. */
  changed(list: ListState): readonly ListState[];
  show(list: ListState, page: number): Shown;
}

export function createListStates(perPage: number): ListStates {
  const changes = new WeakMap<ListState, readonly ListState[]>();
  const pages = new WeakMap<ListState, Shown[]>();
  const shownPages = new Map<string, Shown>();

  const makePage = ({ rows }: ListState, page: number): Shown => {
    const ids = rows.slice((page - 1) * perPage, page * perPage);
    const name = `${page}:${rows.length}:${ids.join(',')}`;
    const known = shownPages.get(name) ?? shownPage(ids, { page, perPage, total: rows.length });
    shownPages.set(name, known);
    return known;
  };

  return {
    changed: (list) => {
      const known = changes.get(list) ?? changedLists(list);
      changes.set(list, known);
      return known;
    },
    show: (list, page) => {
      const known = pages.get(list) ?? [];
      const shown = (known[page] ??= makePage(list, page));
      pages.set(list, known);
      return shown;
    },
  };
}

interface PageAt {
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
}

export function shownPage(rows: readonly number[], { page, perPage, total }: PageAt): Shown {
  const meta = { currentPage: page, lastPage: Math.max(1, Math.ceil(total / perPage)), perPage, total };
  return { page, rows, keys: rows.map(String), ids: `[${rows.join(',')}]`, meta };
}

function changedLists(list: ListState): readonly ListState[] {
  const found = new Map([[list.rows.join(','), list]]);
  let latest = [list];
  while (latest[0] !== undefined && latest[0].changesLeft > 0) {
    const next: ListState[] = [];
    for (const changed of latest.flatMap(withOneChange)) {
      const name = changed.rows.join(',');
      if (found.has(name)) continue; // In fewer changes, so that more are left.
      found.set(name, changed);
      next.push(changed);
    }
    latest = next;
  }
  return [...found.values()].slice(1);
}

/** A row inserted anywhere, or any row deleted, or moved anywhere. */
function withOneChange({ rows, nextId, changesLeft }: ListState): ListState[] {
  const left = changesLeft - 1;
  const state = (changed: number[], next = nextId): ListState => ({
    rows: changed,
    nextId: next,
    changesLeft: left,
  });
  const inserted = [...rows, 0].map((_, at) => state(rows.toSpliced(at, 0, nextId), nextId + 1));
  const deleted = rows.map((_, at) => state(rows.toSpliced(at, 1)));
  const moved = rows.flatMap((row, from) =>
    rows.map((_, to) => state(rows.toSpliced(from, 1).toSpliced(to, 0, row))),
  );
  return [...inserted, ...deleted, ...moved];
}
