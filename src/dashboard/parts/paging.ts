import { html, type Html } from '../../http/html.ts';
import { MOST_COUNTED } from '../../db/rows/rows.ts';
import type { MessageKey, Translator } from '../../lib/text/translator.ts';

export const PAGE_ROWS = 50;

/**
 * A page of rows that were read with a limit of one more than it shows; `next` is the value of `before` for the next page.
 * @param total How many rows the list has, as far as they are counted.
 */
export function listPage<Row>(read: readonly Row[], placeOf: (row: Row) => number, total?: number) {
  const rows = read.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const next = read.length > PAGE_ROWS && last !== undefined ? placeOf(last) : null;
  return { rows, next, total };
}

/** Query values by name; absent ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export function linkTo(path: string, query: Query): string {
  const present = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present).toString()}`;
}

/** Links to the newest and to older rows of a list. @param query Its filters, and where the page begins. */
export function pageLinks(
  translator: Translator,
  path: string,
  query: Query,
  { next, total }: Pick<ReturnType<typeof listPage>, 'next' | 'total'>,
): Html | null {
  const { t } = translator;
  const isFirst = query['before'] === undefined;
  const newest = isFirst ? null : linkTo(path, { ...query, before: undefined });
  const older = next === null ? null : linkTo(path, { ...query, before: next });
  return listLinks(
    translator,
    { words: t('Newest'), address: newest },
    { words: t('Older'), address: older, total },
  );
}

/** A link within a list; without an address, there are no rows there. */
interface PageLink {
  readonly words: string;
  readonly address: string | null;
  readonly total?: number | undefined;
}

const IN_ALL: MessageKey = '{isMore, select, yes {more than {n, number}} other {{n, number}}} in all';

/** Links to the first and to the next rows of a list; null if it has no others. */
export function listLinks(translator: Translator, first: PageLink, next: PageLink): Html | null {
  const { total } = next;
  if (first.address === null && next.address === null) return null;
  const link = (to: PageLink, rel: Html | null): Html | null =>
    to.address === null ? null : html`<a class="button" ${rel} href="${to.address}">${to.words}</a>`;
  return html`<nav class="pages" aria-label="${translator.t('Pages of the list')}">
    <span>${link(first, null)}</span>
    ${total === undefined ? null : html`<span class="quiet">${translator.t(IN_ALL, { n: Math.min(total, MOST_COUNTED), isMore: total > MOST_COUNTED ? 'yes' : 'no' })}</span>`}
    <span>${link(next, html`rel="next"`)}</span>
  </nav>`;
}

interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  /** The values to choose from, after one that filters nothing; absent: any text, or a day. */
  readonly choices?: readonly string[];
  readonly isDay?: true;
  /** Their labels; absent: themselves. */
  readonly labelOf?: (choice: string) => string;
}

/** A field of a form. @param none The label of no choice. */
export const formField = (
  { name, label, value = '', choices, isDay, labelOf }: FilterField,
  none: string,
) => {
  const option = (choice: string): Html =>
    html`<option
      value="${choice}"
      ${choice === value ? html`selected` : null}
      ${labelOf ? null : html`translate="no"`}
    >
      ${labelOf?.(choice) ?? choice}
    </option>`;
  return html`<label>
    ${label}
    ${
      choices === undefined
        ? html`<input
            name="${name}"
            value="${value}"
            ${isDay ? html`type="date"` : html`inputmode="numeric"`}
          />`
        : html`<select name="${name}">
            <option value="">${none}</option>
            ${choices.map(option)}
          </select>`
    }
  </label>`;
};

export function filterForm(translator: Translator, path: string, fields: readonly FilterField[]): Html {
  const inputs = fields.map((field) => formField(field, translator.t('all')));
  return html`<form class="filters" method="get" action="${path}">
    ${inputs}<button>${translator.t('Show')}</button>
  </form>`;
}
