import * as z from 'zod';
import { fieldLabel } from '../catalog/descriptions.ts';
import { countEntries, listEntries, type Entry } from '../store/outbox/outbox-store.ts';
import {
  jsonOrText,
  ENTRY_STATES,
  STATE_FILTERS,
  statesOf,
  showStanding,
} from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import { recordLink } from './parts/change-list.ts';
import { html, type Html, type Part } from '../http/html.ts';
import { badge, column, dataTable, note, tile } from './parts/layout.ts';
import { recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { beforeId, pageAt } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pagedPanel } from './parts/paging.ts';
import { ellipsize, membersText } from './parts/values.ts';

const PATH = '/outbox';

const querystring = z.object({ state: z.enum(STATE_FILTERS).default('all'), before: beforeId });
const route = { path: PATH, summary: 'Show the outbox', querystring };

export const addOutboxPage = pageAt(route, async (dashboard, { query: { state, before }, reader }) => {
  const { session, kinds } = dashboard;
  const { t } = reader;
  const states = statesOf(state);
  const read = await listEntries(session, states, PAGE_ROWS + 1, before);
  const counts = await countEntries(session);
  const total = states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const page = listPage(read, (entry) => entry.id, total);
  const rows = await showStanding(dashboard, page.rows);
  const table = entryTable(rows, await readNames(session, kinds, rows), reader);
  const tiles = ENTRY_STATES.map((state) => {
    const n = counts[state] ?? 0; // The state agrees with the number in French.
    return tile(reader, `${PATH}?state=${state}`, n, t('{n, plural, other {{state}}}', { n, state }));
  });
  const list = {
    id: 'entries',
    title: t('Entries'),
    path: PATH,
    query: { state, before },
  };
  const content = html`<ul class="tiles" id="counts" data-live>
      ${tiles}
    </ul>
    ${pagedPanel(reader, list, page, table)}`;
  return { title: t('Outbox'), about: t('Creates and updates for the service, newest first'), content };
});

function entryTable(rows: readonly Entry[], nameOf: NameOf, reader: Reader): Html {
  const { t, when } = reader;
  return dataTable(
    { caption: t('Entries of the outbox'), rows, none: t('No entry.') },
    column(t('entry'), '', ({ id }) => html`<a href="${PATH}/${id}">${id}</a>`),
    column(t('what'), 'parts data', (entry) => {
      const line = html`<span class="early">${operationLine(entry, nameOf, reader)}</span>`;
      return html`${line} ${note(ellipsize(payloadText(entry, reader), LONGEST_PAYLOAD))}`;
    }),
    column(t('state'), 'parts', (entry) => {
      const meaning = entry.state === 'done' ? null : explain(entry, reader).meaning;
      return html`${badge(reader, entry.state)} ${note(meaning)}`;
    }),
    column(t('changed'), 'nowrap early', ({ updatedAt }) => when(updatedAt)),
    column(t('next step'), 'nowrap wide', ({ nextAttemptAt, settlement: { resendAt } }) => {
      const wait = resendAt && html`<p>${t('not resent before {when}', { when: when(resendAt) })}</p>`;
      return html`${when(nextAttemptAt) ?? '–'} ${wait ?? null}`;
    }),
  );
}

const LONGEST_PAYLOAD = 90;

export const payloadText = (entry: Entry, reader: Reader): string =>
  membersText(jsonOrText(entry.payload), (name) => fieldLabel(reader, entry.kind, name));

export function operationLine(entry: Entry, nameOf: NameOf, reader: Reader): Part {
  const { operation, kind, recordId, payload } = entry;
  const name = nameOf(kind, recordId) || (operation === 'create' ? recordName(payload) : '');
  const record = recordLink(reader, kind, recordId, name);
  return reader.t('{operation} {record}', { operation: reader.term(operation), record });
}
