import type { ListedKind } from '../../src/catalog/kind.ts';
import { hash, type Random } from '../../sandbox/generate/draw.ts';
import { failure, json, type Answer } from './answers.ts';
import type { Records, Row } from './records.ts';
import type { Personality } from './traits.ts';

export interface ListRequest {
  readonly page: number;
  /** As asked for; null where it was not. */
  readonly perPage: number | null;
  /** The instant of the shown rows. */
  readonly ofMs: number;
  /** From this instant on pages have half as many rows, where the size changes in mid-life. */
  readonly changedMs: number;
}

/** A page of a list. */
export function listAnswer(records: Records, request: ListRequest, listing: Listing): Answer {
  const { kind } = records;
  const { personality } = listing;
  const size = pageSize(kind, request, personality);
  const rows = ordered(kind, records.at(request.ofMs), listing);
  const last = Math.max(1, Math.ceil(rows.length / size));
  let page = personality.asked === 'page ignored' ? 1 : Math.max(1, request.page);
  if (page > last && personality.beyond === 'not found') return failure(404, 'There is no such page.');
  if (page > last && personality.beyond === 'last page again') page = last;
  const facts = { ...counted(records, request, { rows, personality }), page, size };
  const data = rowsOfPage(rows, { page, size }, personality).map(({ text }) => text);
  const members = [`"data":[${data.join(',')}]`, ...META_FORMS[personality.announced](facts, kind)];
  return json(200, `{${[...members, '"success":true'].join(',')}}`);
}

/** Where many records share the day that a list is sorted by, some come on no page, and others twice. */
export function rowsOfPage(
  rows: readonly Row[],
  { page, size }: { readonly page: number; readonly size: number },
  { ties }: Pick<Personality, 'ties'>,
): readonly Row[] {
  const of = ties === 'another order for each page' ? `${size}/${page}` : String(size);
  const place = ({ id }: Row): number => hash(`${id}/${of}`);
  const sorted = rows.toSorted((a, b) => dayOf(a) - dayOf(b) || place(a) - place(b));
  return (ties === 'none' ? rows : sorted).slice((page - 1) * size, page * size);
}

const ALIKE = 15;
const dayOf = ({ born }: Row): number => Math.floor(born / ALIKE);

export interface Listing {
  readonly personality: Personality;
  readonly random: Random;
  /** The number of the request, where the order goes by it. */
  readonly turn?: number;
}

const FIXED_SIZE = 500;

function pageSize(
  { list }: ListedKind,
  request: ListRequest,
  { pageSize: most, asked }: Personality,
): number {
  const own = list.paging === 'by answer' && most === '100 rows' ? FIXED_SIZE : Number.parseInt(most, 10);
  const now =
    asked === 'size changed in mid-life' && request.ofMs >= request.changedMs ? Math.ceil(own / 2) : own;
  return asked === 'per_page ignored' || request.perPage === null
    ? now
    : Math.min(now, Math.max(1, request.perPage));
}

interface Counted {
  readonly total: number;
  readonly last: number;
}

function counted(
  records: Records,
  { ofMs }: ListRequest,
  {
    rows,
    personality: { total: how, ...rest },
  }: { readonly rows: readonly Row[]; readonly personality: Personality },
): Counted {
  const off = {
    right: 0,
    'one too many': 1,
    'one too few': -1,
    'a moment old': records.at(ofMs - 400).length - rows.length,
  };
  const total = Math.max(0, rows.length + off[how]);
  return {
    total,
    last: Math.max(
      1,
      Math.ceil(
        total /
          pageSize(
            records.kind,
            { page: 1, perPage: null, ofMs, changedMs: Infinity },
            { ...rest, total: how },
          ),
      ),
    ),
  };
}

interface ListFacts extends Counted {
  readonly page: number;
  readonly size: number;
}

const member = (name: string, value: unknown): string => `"${name}":${JSON.stringify(value)}`;
const meta = ({ page, last, size, total }: ListFacts): Record<string, unknown> => ({
  current_page: page,
  last_page: last,
  per_page: size,
  total,
});
const without = (facts: ListFacts, ...names: readonly string[]): string =>
  member('meta', Object.fromEntries(Object.entries(meta(facts)).filter(([name]) => !names.includes(name))));
const links = ({ page, last }: ListFacts, { list }: ListedKind): string =>
  member('links', {
    prev: page > 1 ? `${list.path}?page=${page - 1}` : null,
    next: page < last ? `${list.path}?page=${page + 1}` : null,
  });

const META_FORMS: Readonly<
  Record<Personality['announced'], (facts: ListFacts, kind: ListedKind) => readonly string[]>
> = {
  meta: (facts) => [member('meta', meta(facts))],
  'meta as text': (facts) => [
    member(
      'meta',
      Object.fromEntries(Object.entries(meta(facts)).map(([name, value]) => [name, String(value)])),
    ),
  ],
  nothing: () => [],
  'meta without total': (facts) => [without(facts, 'total')],
  'meta without last_page': (facts) => [without(facts, 'last_page')],
  'meta without both': (facts) => [without(facts, 'total', 'last_page')],
  'links only': (facts, kind) => [links(facts, kind)],
  'meta and links': (facts, kind) => [member('meta', meta(facts)), links(facts, kind)],
  'total only': ({ total }) => [member('meta', { total })],
};

function ordered(
  { list }: ListedKind,
  rows: readonly Row[],
  { personality, random, turn = 0 }: Listing,
): readonly Row[] {
  const usual = personality.order === 'documented' ? DOCUMENTED_ORDERS[list.order] : personality.order;
  const flipped = personality.flips === 'at random' ? random.pick(FLIPPING) : FLIPPING[turn % 2];
  const order = personality.flips === 'steady' ? usual : (flipped ?? usual);
  if (order === 'shuffled')
    return rows
      .map((row) => ({ row, at: random.integer(0, 1e6) }))
      .sort((a, b) => a.at - b.at)
      .map(({ row }) => row);
  return rows.toSorted(ORDERS[order]);
}

const FLIPPING = ['oldest first', 'newest first'] as const;

type Order = Exclude<Personality['order'], 'documented'>;

const DOCUMENTED_ORDERS: Readonly<Record<ListedKind['list']['order'], Order>> = {
  code: 'by code',
  unknown: 'oldest first',
  'created, oldest first': 'oldest first',
  'created, newest first': 'newest first',
  'pickup date, newest first': 'newest first',
};

const keyOf = ({ content }: Row): string => {
  const key = content['code'] ?? content['nom'] ?? content['name'];
  return typeof key === 'string' ? key : '';
};

const ORDERS: Readonly<Record<Exclude<Order, 'shuffled'>, (a: Row, b: Row) => number>> = {
  'oldest first': (a, b) => a.born - b.born,
  'newest first': (a, b) => b.born - a.born,
  'by code': (a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : a.born - b.born),
  unordered: (a, b) => hash(a.id) - hash(b.id),
};
