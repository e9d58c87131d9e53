import { fieldLabel, kindLabel } from '../../catalog/descriptions.ts';
import type { RecordedChange } from '../../events/read-changes.ts';
import { isArray } from '../../lib/json/json.ts';
import { html, type Html, type Part } from '../../http/html.ts';
import { entryOf } from '../../store/outbox/outbox-store.ts';
import type { Translator } from '../../lib/text/translator.ts';
import { parseObjectText, recordName } from '../../store/records/record-name.ts';
import { FIELDS_EXCLUDED } from '../../store/records/record-story.ts';
import { badge, column, dataTable, itemList, link } from './layout.ts';
import { ellipsize, labelledField, shownText } from './values.ts';
import type { Reader } from './reader.ts';

const LONGEST_VALUE = 160;
const FIELDS_SHOWN = 5;

/**
 * Lists change events, each with the values of some fields before and after.
 *
 * @param pushers The users who pushed changes, by the origin of the event.
 * @param isWhole Shows all fields, and when other users made their changes.
 */
export function changeList(
  changes: readonly RecordedChange[],
  reader: Reader,
  pushers: ReadonlyMap<string, string>,
  isWhole = false,
): Html {
  const { t, when } = reader;
  const most = isWhole ? Infinity : FIELDS_SHOWN;
  const items = changes.map((change) => {
    const { seq, kind, recordId, after, before, observedAt, origin } = change;
    const entry = entryOf(origin); // Not null: bms-sync itself wrote the change.
    const fields = changedFields(reader, change);
    return html`<li id="change-${seq}">
      <div class="head">
        ${badge(reader, change.change)} ${recordLink(reader, kind, recordId, recordName(after ?? before))}
        ${fields.length > 1 ? html`<span class="narrow quiet small">${t('{n, plural, one {# field} other {# fields}}', { n: fields.length })}</span>` : null}
        ${entry === null ? null : html`<a class="state plain" href="/outbox/${entry}">${makerOf(reader, origin, pushers)}</a>`}
        <a class="seq last" href="/changes?before=${seq + 1}"
          ><span class="unseen">${t('event {seq}', { seq })}, </span>${when(observedAt)}</a
        >
      </div>
      ${entry === null && isWhole ? html`<p class="small quiet">${spanOf(change, reader)}</p>` : null}
      ${fields.length === 0 && change.change === 'updated' ? html`<p class="small quiet">${t(FIELDS_EXCLUDED)}</p>` : null}
      ${fields.length === 0 ? null : fieldTable(reader, change, fields.slice(0, most), fields.length)}
    </li>`;
  });
  return itemList(items);
}

/** Each field that a change gave another value, with its values as people write them. */
export function changedFields(reader: Reader, { kind, change, fields }: RecordedChange) {
  const pairs = Object.entries(parseObjectText(change === 'updated' ? fields : null));
  return pairs.map(([name, pair]) => {
    const [before, after] = (isArray(pair) ? pair : []).map((value) => shownText(reader, kind, name, value));
    return { name, label: fieldLabel(reader, kind, name), before: before ?? '', after: after ?? '' };
  });
}

/** Who made a change: an entry of the outbox with its user, or somebody in the service. */
export function makerOf({ t }: Translator, origin: string, pushers: ReadonlyMap<string, string>): string {
  const [entry, who] = [entryOf(origin), pushers.get(origin)];
  if (entry === null) return t('in the service');
  return who ? t('by entry {entry} of {who}', { entry, who }) : t('by entry {entry}', { entry });
}

function spanOf(change: RecordedChange, { t, exactTime }: Reader): Part {
  const to = exactTime(change.observedAt);
  return change.observedFrom === null
    ? t('In the service, before {to}; start unknown', { to })
    : t('In the service, between {from} and {to}', { from: exactTime(change.observedFrom), to });
}

export const recordAddress = (kind: string, id: string): string =>
  `/records/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;

/** Links to the page of a record by its name, if it is known, with kind and id beside it; without an id it is no link. */
export function recordLink(translator: Translator, kind: string, id: string | null, name = ''): Html {
  const label = kindLabel(translator, kind, 'one');
  const numbered = id === null ? label : `${label} ${id}`;
  const link = id === null ? null : html`href="${recordAddress(kind, id)}"`;
  if (name === '') return html`<a ${link} title="${kind} ${id}">${numbered}</a>`;
  return html`<a ${link} title="${kind} ${id}" class="name" translate="no">${name}</a>
    <span class="quiet small">${numbered}</span>`;
}

function fieldTable(
  reader: Reader,
  { seq, kind, recordId }: RecordedChange,
  rows: ReturnType<typeof changedFields>,
  inAll: number,
): Html {
  const { t } = reader;
  const n = inAll - rows.length;
  const record = `${kindLabel(reader, kind, 'one')} ${recordId}`;
  const way = link(`${recordAddress(kind, recordId)}#change-${seq}`, t('and {n, number} more', { n }));
  const table = dataTable(
    { caption: t('Fields of {record} that changed', { record }), rows, layout: 'diff' },
    column(t('field'), '', ({ name }) => labelledField(reader, kind, name)),
    column(t('before'), '', ({ before }) => html`<del>${ellipsize(before, LONGEST_VALUE)}</del>`),
    column(t('after'), '', ({ after }) => html`<ins>${ellipsize(after, LONGEST_VALUE)}</ins>`),
  );
  return html`${table} ${n > 0 ? html`<p class="quiet small more">${way}</p>` : null}`;
}
