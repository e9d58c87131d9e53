import { html, type Html, type Part } from '../../http/html.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';

/** The heading of a page, with a line about it. */
export const pageTitle = (title: string, about: Part): Html =>
  html`<div class="title">
    <h1>${title}</h1>
    <p>${about}</p>
  </div>`;

interface PanelHead {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly note?: Part;
  /** Whether it is exchanged when events come; absent where what is around it is. */
  readonly isLive?: boolean;
}

/** A part of a page under a heading of its own. */
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

/** A list that is all of a page, without a heading; `label` names it for screen readers. */
export const listPanel = (id: string, label: string, isLive: boolean, content: Part): Html =>
  html`<section class="panel" aria-label="${label}" id="${id}" ${isLive ? html`data-live` : null}>
    ${content}
  </section>`;

/** Names with their values; one without a value is left out. */
export const factList = (facts: readonly (readonly [name: string, value: Html | string | null])[]): Html =>
  html`<dl class="facts">
    ${facts.map(([name, value]) =>
      value === null
        ? html``
        : html`<dt>${name}</dt>
            <dd>${value}</dd>`,
    )}
  </dl>`;

/** A text in English that may have a French one; without it, it is marked as English. */
export function markEnglish(translator: Translator, english: string): Part {
  const translated = translator.term(english);
  return translator.language === 'en' || translated !== english
    ? translated
    : html`<span lang="en">${english}</span>`;
}

/** Words in the place of a list without items. */
export const emptyNote = (words: string): Html => html`<p class="none">${words}</p>`;

/** Items one below the other. */
export const itemList = (items: readonly Html[]): Html =>
  html`<ol class="feed">
    ${items}
  </ol>`;

/** A state as a coloured word; one without a tone is plain. */
export const badge = (
  translator: Translator,
  state: string,
  tones: Readonly<Record<string, string>> = {},
): Html => html`<span class="state ${tones[state] ?? 'plain'}">${translator.term(state)}</span>`;

/** A number that leads to its page; null = not counted yet. */
export const tile = (translator: Translator, address: string, number: number | null, words: string): Html =>
  html`<li>
    <strong>${number === null ? '…' : translator.count(number)}</strong
    ><span><a href="${address}">${words}</a></span>
  </li>`;

/** A number in a table; nought is a dash, which a phone leaves out. */
export const countCell = (translator: Translator, title: MessageKey, number: number): Html =>
  html`<td class="number ${number === 0 ? 'blank' : ''}" data-title="${translator.t(title)}">
    ${number === 0 ? '–' : translator.count(number)}
  </td>`;
