import { html, type Html, type Part } from '../../http/html.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';
import { translateReason } from '../../words/stored-reasons.ts';

export const pageTitle = (title: Part, about: Part): Html =>
  html`<div class="title">
    <h1>${title}</h1>
    <p>${about}</p>
  </div>`;

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

/** A text in English that may have a French one; without it, it is marked as English. Steps of the command line become those of pages. */
export function markEnglish(translator: Translator, english: string): Part {
  const { language } = translator;
  const translated = translateReason(english, translator);
  const parts = pageSteps(translator, translated);
  return language === 'en' || translated !== english ? parts : html`<span lang="en">${parts}</span>`;
}

/** A text with the steps of pages in place of those of the command line. */
export const pageSteps = (translator: Translator, text: string): readonly Part[] =>
  text.split(STEP).map((part, at) => (at % 2 === 0 ? part : pageStep(translator, part)));

/** An option, or a command: after a colon to the end of its clause. */
const STEP =
  /(--[a-z-]+(?: [A-Z]+)?|(?<=: |, or |then )bms-sync (?:"[^"]*"|[^",;.)])+|bms-sync (?:outbox|webhooks)\b(?: list\b| [a-z]+ \d+)?)/;

/** The fields of forms by options, and the pages by commands: a number or a kind ends the address. */
const PAGE_STEPS: readonly (readonly [step: RegExp, words: MessageKey, address: string])[] = [
  [/^--kind/, 'Kind', '/plans'],
  [/^--match/, 'Find records by', '/plans'],
  [/^--create/, 'create records from rows without an id or a match', '/plans'],
  [/^--allow-reordered/, 'accept a column whose values only changed places', '/plans'],
  [/ (?:plan|approve|apply|reject|withdraw|undo) (\d+)/, 'Plan {id}', '/plans/'],
  [/ plan/, 'Corrections', '/plans'],
  [/ outbox [a-z]+ (\d+)/, 'Entry {id}', '/outbox/'],
  [/ outbox/, 'Outbox', '/outbox'],
  [/ deletions/, 'Deletions', '/deletions'],
  [/ webhooks/, 'Webhooks', '/webhooks'],
  [/ users/, 'Users', '/users'],
  [/ pull (\w+)/, 'Pull now', '/kinds/'],
];

function pageStep({ t, language }: Translator, step: string): Html {
  for (const [pattern, words, address] of PAGE_STEPS) {
    const [found, id = ''] = pattern.exec(step) ?? [];
    if (found) return html`<a lang="${language}" href="${address}${id}">${t(words, { id })}</a>`;
  }
  return html`<code>${step}</code>`;
}

export const emptyNote = (words: string): Html => html`<p class="none">${words}</p>`;

export const itemList = (items: readonly Html[]): Html =>
  html`<ol class="feed">
    ${items}
  </ol>`;

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

/** A number in a table; nought is a dash, which a phone leaves out. */
export const countCell = (translator: Translator, title: MessageKey, number: number): Html =>
  html`<td class="number ${number === 0 ? 'blank' : ''}" data-title="${translator.t(title)}">
    ${number === 0 ? '–' : translator.count(number)}
  </td>`;
