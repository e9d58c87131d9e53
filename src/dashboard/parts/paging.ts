import { html, type Html } from '../../http/html.ts';
import { MOST_COUNTED } from '../../db/rows/rows.ts';
import type { MessageKey, Translator } from '../../lib/text/translator.ts';
import { listPanel } from './layout.ts';

/** A row has three lines on a phone, where a page of a list is at most four windows long. */
export const PAGE_ROWS = 20;

/**
 * A page of rows that were read with a limit of one more than it shows; `next` is where the next page begins.
 * @param total How many rows the list has, as far as they are counted.
 */
export function listPage<Row>(read: readonly Row[], placeOf: (row: Row) => number | string, total?: number) {
  const rows = read.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const next = read.length > PAGE_ROWS && last !== undefined ? placeOf(last) : null;
  return { rows, next, total };
}

type ListPage = Omit<ReturnType<typeof listPage>, 'rows'>;

/** Query values by name; absent ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export function linkTo(path: string, query: Query): string {
  const present = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present).toString()}`;
}

/** The member of the query at which a page begins, and the words for the first page and for the next one. */
const ORDERS = { before: ['Newest', 'Older'], after: ['First', 'Next'] } as const;

interface Place {
  readonly path: string;
  /** The filters of the list, and where the page begins. */
  readonly query: Query;
  /** The newest rows first, or by their numbers. */
  readonly by?: keyof typeof ORDERS;
}

/** Links to the first rows of a list and to the next ones; null if it has no others. */
export function pageLinks(
  { t }: Translator,
  { path, query, by = 'before' }: Place,
  { next, total }: ListPage,
): Html | null {
  const [first, further] = ORDERS[by];
  const isFirst = query[by] === undefined;
  if (isFirst && next === null) return null;
  const link = (words: MessageKey, place: string | number | undefined, rel: Html | null): Html =>
    html`<a class="button" ${rel} href="${linkTo(path, { ...query, [by]: place })}">${t(words)}</a>`;
  const values = total !== undefined && {
    n: Math.min(total, MOST_COUNTED),
    isMore: total > MOST_COUNTED ? 'yes' : 'no',
  };
  return html`<nav class="pages" aria-label="${t('Pages of the list')}">
    <span>${isFirst ? null : link(first, undefined, null)}</span>
    ${values ? html`<span class="quiet">${t(IN_ALL, values)}</span>` : null}
    <span>${next === null ? null : link(further, next, html`rel="next"`)}</span>
  </nav>`;
}

const IN_ALL: MessageKey = '{isMore, select, yes {more than {n, number}} other {{n, number}}} in all';

/** The panel of a list that fills a page: live as long as it shows the newest rows. */
export const pagedPanel = (
  reader: Translator,
  { id, title, ...place }: Place & Readonly<Record<'id' | 'title', string>>,
  page: ListPage,
  rows: Html | readonly Html[],
): Html =>
  listPanel(id, title, place.query['before'] === undefined, html`${rows} ${pageLinks(reader, place, page)}`);
