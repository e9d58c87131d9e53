import { attributesOf, html, type Html, type Part } from '../../http/html.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';

interface PanelHead {
  readonly id: string;
  readonly title: Part;
  readonly note?: Part;
  /** Whether later events update it; absent if they update the part around it. */
  readonly isLive?: boolean;
}

export function panel({ id, title, note, isLive }: PanelHead, content: Part): Html {
  const liveAttributes = isLive === undefined ? null : html`id="${id}" ${isLive ? html`data-live` : null}`;
  return html`<section class="panel" aria-labelledby="${id}-title" ${liveAttributes}>
    <header>
      <h2 id="${id}-title">${title}</h2>
      ${note === undefined || note === null ? null : html`<p>${note}</p>`}
    </header>
    ${content}
  </section>`;
}

/** A list that fills a page, without a heading; `label` names it for screen readers. */
export const listPanel = (id: string, label: string, isLive: boolean, content: Part): Html =>
  html`<section class="panel" aria-label="${label}" id="${id}" ${isLive ? html`data-live` : null}>
    ${content}
  </section>`;

/** Shows a secret, which is never shown again. */
export const secretPanel = ({ t }: Translator, title: string, note: string, value: string): Html =>
  panel(
    { id: 'token', title, isLive: false },
    html`<div class="body">
      <p role="status" id="token-note">${note}</p>
      <div class="filters">
        <input id="token-text" class="token" value="${value}" readonly aria-labelledby="token-note" />
        <button type="button" data-copy="token-text">${t('Copy')}</button>
      </div>
    </div>`,
  );

/** Names with their values; one without a value is left out. */
export const factList = (
  facts: readonly (readonly [name: Html | string, value: Html | string | null])[],
): Html =>
  html`<dl class="facts">
    ${facts.map(([name, value]) =>
      value === null
        ? html``
        : html`<dt>${name}</dt>
            <dd>${value}</dd>`,
    )}
  </dl>`;

/** A column of a table of such rows. */
interface Column<Row> {
  readonly name: string;
  /** Its heading, where that is more than the name. */
  readonly heading?: Part;
  readonly look: string;
  /** Null is a dash, which a phone leaves out. */
  readonly cell: (row: Row) => Part;
}

interface TableParts<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  /** What stands in place of a table without rows. */
  readonly none?: string;
  /** `cards`: each row is a card on a phone. `words`, `diff`: the headings are for screen readers only. */
  readonly layout?: 'cards' | 'cards linked' | 'grid' | 'words' | 'diff';
}

/** Writes a table; its first column names the rows. Absent columns are left out. */
export function dataTable<Row>(
  { caption, rows, none, layout = 'cards' }: TableParts<Row>,
  ...all: readonly (Column<Row> | null)[]
): Html {
  if (rows.length === 0 && none !== undefined) return emptyNote(none);
  const columns = all.filter((column) => column !== null);
  const cellOf = ({ name, look, cell }: Column<Row>, row: Row, isFirst: boolean): Html => {
    const content = cell(row);
    const classes = content === null ? `${look} blank`.trim() : look;
    const attributes = attributesOf({
      scope: isFirst ? 'row' : null,
      class: classes === '' ? null : classes,
      'data-title': look.includes('named') ? name : null,
      translate: look.includes('data') ? 'no' : null,
    });
    return isFirst ? html`<th${attributes}>${content}</th>` : html`<td${attributes}>${content ?? '–'}</td>`;
  };
  return html`<table class="${layout}">
    <caption class="unseen">
      ${caption}
    </caption>
    <thead ${layout === 'words' || layout === 'diff' ? html`class="unseen"` : null}>
      <tr>
        ${columns.map(({ name, heading = name, look }) => html`<th${attributesOf({ scope: 'col', class: look.includes('number') ? 'number' : null })}>${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map((column, at) => cellOf(column, row, at === 0))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** The rest of a list that is read whole, a click away. @param n How much of it there is. */
export const folded = ({ t }: Translator, id: string, n: number, rest: Part): Html | null =>
  n <= 0
    ? null
    : html`<details class="group" id="more-${id}">
        <summary>${t('and {n, number} more', { n })}</summary>
        ${rest}
      </details>`;

/** A table whose further rows are folded. @param open How many are not. */
export function foldedTable<Row>(
  translator: Translator,
  { rows, open, ...parts }: TableParts<Row> & { readonly open: number },
  ...columns: readonly (Column<Row> | null)[]
): Html {
  const [first, rest] = [rows.slice(0, open), rows.slice(open)];
  const more = dataTable({ ...parts, rows: rest }, ...columns);
  return html`${dataTable({ ...parts, rows: first }, ...columns)}
  ${folded(translator, parts.caption, rest.length, more)}`;
}

/** @param look Classes of the cells: `number`, `data` that is not ours, the place on a phone; there a `named` one begins with the name. */
export const column = <Row>(name: string, look: string, cell: (row: Row) => Part): Column<Row> => {
  return { name, look, cell };
};

export const emptyNote = (words: string): Html => html`<p class="none">${words}</p>`;

/** A column of numbers. */
export const countColumn = <Row>(
  { t, count }: Translator,
  name: MessageKey,
  numberOf: (row: Row) => number,
  look = 'number named',
): Column<Row> => column(t(name), look, (row) => (numberOf(row) === 0 ? null : count(numberOf(row))));

export const link = (address: string, words: Part): Html => html`<a href="${address}">${words}</a>`;

/** Words with their technical name. */
export const titled = (name: string, words: Part): Html => html`<span title="${name}">${words}</span>`;

/** What stands below the words of a row, on one line of a phone. */
export const note = (words: Part): Html => html`<p class="small quiet brief">${words}</p>`;

/** @param none What stands in place of no items. */
export const itemList = (items: readonly Html[], none?: string): Html =>
  items.length === 0 && none !== undefined
    ? emptyNote(none)
    : html`<ol class="feed">
        ${items}
      </ol>`;

/** An item of it: a line, what stands at its end, and what follows. */
export const feedItem = (line: Part, end: Part, rest: Part): Html =>
  html`<li>
    <div class="head">${line} <span class="last quiet small">${end}</span></div>
    ${rest}
  </li>`;

const TONES = {
  good: 'certified done delivered accepted healthy live created approved applied',
  info: 'running ready sending updated suspected not-applied',
  warn: 'complete incomplete interrupted unsettled ambiguous parked failing restored held stale',
  bad: 'invalid aborted failed rejected refused disabled deleted',
};

const TONE_BY_STATE: ReadonlyMap<string, string> = new Map(
  Object.entries(TONES).flatMap(([tone, states]) => states.split(' ').map((state) => [state, tone])),
);

export const badge = (
  translator: Translator,
  state: string,
  label = translator.term(state).replaceAll('_', ' '),
): Html => html`<span class="state ${TONE_BY_STATE.get(state.replace(' ', '-')) ?? 'plain'}">${label}</span>`;

/** A number that leads to its page; null = not counted yet. */
export const tile = (
  translator: Translator,
  address: string,
  number: number | null,
  words: Html | string,
): Html =>
  html`<li>
    <strong>${number === null ? '…' : translator.count(number)}</strong
    ><span><a href="${address}">${words}</a></span>
  </li>`;
