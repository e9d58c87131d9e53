import { kindNamed } from '../../src/catalog/kinds/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import { jsonHeaders } from './draft.ts';
import type { Draft } from './draft.ts';
import { recordsOf, WRITERS } from './records.ts';
import type { ServedName } from './records.ts';

/** One kind of the true service. */
export interface Served {
  readonly name: ServedName;
  readonly kind: ListedKind;
  /** By id; what is not here is gone. */
  readonly records: Map<string, string>;
  readonly pageSize: number;
  readonly hasMeta: boolean;
}

/** What a request is about. */
export interface Asked {
  readonly served: Served;
  /** Null for one record. */
  readonly page: number | null;
  /** Null for a list. */
  readonly id: string | null;
}

/** Documented paging with `meta`; paging by answer with `meta`, and without; a list that comes whole, without a word of pages. */
const PLANS = [
  { name: 'clients', count: 28, pageSize: 5, hasMeta: true },
  { name: 'categories', count: 23, pageSize: 4, hasMeta: true },
  { name: 'bookings', count: 24, pageSize: 10, hasMeta: false },
  { name: 'punches', count: 27, pageSize: Infinity, hasMeta: false },
] as const;

export function createService(): readonly Served[] {
  return PLANS.map(({ name, count, pageSize, hasMeta }) => {
    const kind = kindNamed(name);
    if (kind === undefined || !isListed(kind)) throw new Error(`${name} has no list.`);
    return { name, kind, records: recordsOf(name, count), pageSize, hasMeta };
  });
}

/** Removes, rewrites and adds a few records, so that the pulls to come have something to find out. */
export function stirService(service: readonly Served[], random: Random): void {
  for (const { name, records } of service) {
    const ids = [...records.keys()];
    for (let left = random.integer(0, 2); left > 0; left--) records.delete(random.pick(ids));
    for (let left = random.integer(0, 3); left > 0; left--) {
      const id = random.pick(ids);
      if (records.has(id)) records.set(id, WRITERS[name](Number(id), random));
    }
    for (let left = random.integer(0, 1); left > 0; left--) {
      const id = random.integer(2000, 2999);
      records.set(String(id), WRITERS[name](id, random));
    }
  }
}

export function askedFor(service: readonly Served[], target: string): Asked {
  const url = new URL(target, 'http://service');
  for (const served of service) {
    const { path } = served.kind.list;
    if (url.pathname === path) return { served, page: Number(url.searchParams.get('page') ?? 1), id: null };
    if (url.pathname.startsWith(`${path}/`))
      return { served, page: null, id: decodeURIComponent(url.pathname.slice(path.length + 1)) };
  }
  throw new Error(`No such path: ${target}`);
}

/** The true answer. */
export function honestDraft({ served, page, id }: Asked): Draft {
  return page === null ? recordDraft(served, id ?? '') : listDraft(served, page);
}

function listDraft({ records, pageSize, hasMeta }: Served, page: number): Draft {
  const all = [...records.values()];
  const size = Math.min(pageSize, 1000);
  const rows = Number.isFinite(pageSize) ? all.slice((page - 1) * size, page * size) : all;
  const last = Math.max(1, Math.ceil(all.length / size));
  const meta = `{"current_page":${page},"last_page":${last},"per_page":${size},"total":${all.length}}`;
  const members: Draft['members'] = [
    ['data', null],
    ...(hasMeta ? [['meta', meta] as const] : []),
    ['success', 'true'],
  ];
  return { status: 200, headers: jsonHeaders(), members, rows, isList: true, bytes: null };
}

function recordDraft({ records }: Served, id: string): Draft {
  const record = records.get(id);
  const plain = { headers: jsonHeaders(), isList: false, bytes: null };
  if (record !== undefined)
    return {
      ...plain,
      status: 200,
      members: [
        ['data', null],
        ['success', 'true'],
      ],
      rows: [record],
    };
  return {
    ...plain,
    status: 404,
    members: [
      ['success', 'false'],
      ['message', '"Not found"'],
    ],
    rows: [],
  };
}
