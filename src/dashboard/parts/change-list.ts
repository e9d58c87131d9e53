import type { RecordedChange } from '../../feed/read-changes.ts';
import { compactJson, isArray, isObject, tryParse } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { shortened } from '../../lib/text/text.ts';
import { dataTable, html, when } from '../../http/html.ts';
import type { Html } from '../../http/html.ts';
import { badge, feed } from './layout.ts';

const LONGEST_VALUE = 160;
const FIELDS_SHOWN = 5;

/** Change events as a list for a person, each with its values before and after. */
export function changeList(changes: readonly RecordedChange[], now: Date): Html {
  const items = changes.map((change) => {
    const { seq, kind, recordId, after, before, observedAt, origin } = change;
    const entry = /^outbox:(\d+)$/.exec(origin)?.[1]; // bms-sync itself wrote the change.
    return html`<li id="change-${seq}">
      <div class="head">
        ${badge(change.change, TONES)} ${recordLink(kind, recordId)}
        <span class="name">${recordName(after ?? before)}</span>
        ${entry === undefined ? null : html`<a class="state plain" href="/outbox/${entry}">written by entry ${entry}</a>`}
        <a class="seq last" href="/changes?before=${seq + 1}"
          ><span class="unseen">event ${seq}, </span>${when(observedAt, now)}</a
        >
      </div>
      ${change.change === 'updated' ? fewFields(change) : null}
    </li>`;
  });
  return feed(items);
}

const TONES = { created: 'good', updated: 'info', deleted: 'bad', restored: 'warn' };

/** The page of a record. */
export const recordAddress = (kind: string, id: string): string =>
  `/records/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;

/** A record as a link to its page; a kind alone where there is none. */
export const recordLink = (kind: string, id: string | null): Html =>
  id === null ? html`${kind}` : html`<a href="${recordAddress(kind, id)}">${kind} ${id}</a>`;

/** The fields by which a person recognises a record, in this order. */
const NAMES = ['code', 'nom', 'name', 'name_fr', 'label', 'title', 'product_name', 'date'];
const NAMES_SHOWN = 2;

/** A few values by which a person recognises a record, of its JSON text. */
export function recordName(text: string | null): string {
  const record = objectIn(text);
  const found = NAMES.map((name) => record[name] ?? null).filter((value) => value !== null && value !== '');
  return found.slice(0, NAMES_SHOWN).map(valueText).join(' · ');
}

/** The members of a JSON text; none if it is no object. */
export function objectIn(text: string | null): JsonObject {
  const value = text === null ? undefined : tryParse(text);
  return isObject(value) ? value : {};
}

/** A value as a person reads it: a text without its quotes. */
export function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : compactJson(value);
}

function fewFields({ seq, fields, kind, recordId }: RecordedChange): Html {
  const all = Object.entries(objectIn(fields));
  const rows = all.slice(0, FIELDS_SHOWN).map(([name, pair]) => {
    const [before, after] = isArray(pair) ? pair : [];
    return html`<tr>
      <th scope="row">${name}</th>
      <td><del>${cut(valueText(before), LONGEST_VALUE)}</del></td>
      <td><ins>${cut(valueText(after), LONGEST_VALUE)}</ins></td>
    </tr>`;
  });
  const more = all.length - rows.length;
  const whole = `/v1/changes?after=${seq - 1}&limit=1`;
  const caption = `Fields of ${kind} ${recordId} that changed`;
  const table = dataTable(caption, ['field', 'before', 'after'], rows, 'diff');
  return html`${table}
  ${more > 0 ? html`<p class="quiet small"><a href="${whole}">and ${more} more</a></p>` : null}`;
}

/** A text with its own spaces and line ends; nothing of ours may stand beside it within the element. */
export const verbatim = (text: string): Html => html`<span class="value">${text}</span>`;

/** The beginning of a text that is longer; an empty one is shown as such. */
export function cut(text: string, longest: number): string {
  if (text === '') return '–';
  return text.length > longest ? `${shortened(text, longest)}…` : text;
}
