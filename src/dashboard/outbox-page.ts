import * as z from 'zod';
import { fieldLabel } from '../catalog/descriptions.ts';
import { countEntries, listEntries, type Entry } from '../store/outbox/outbox-store.ts';
import { jsonOrText, ENTRY_STATES, statesOf, showStanding } from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import type { Server } from '../http/server.ts';
import { recordLink } from './parts/change-list.ts';
import { dataTable, html, type Html, type Part } from '../http/html.ts';
import { badge, listPanel, emptyNote, pageTitle, tile } from './parts/layout.ts';
import { recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { ellipsize, membersText } from './parts/values.ts';

export function addOutboxPage(app: Server, dashboard: Dashboard): void {
  const state = z.enum(['', 'open', ...ENTRY_STATES]).optional();
  const querystring = z.object({ state, before: beforeId });
  const route = { path: '/outbox', summary: 'Show the outbox', querystring };
  addPage(app, dashboard, route, async ({ query, reader }) => {
    const { session } = dashboard;
    const { t } = reader;
    const { state: wanted = '', before: last } = query;
    const states = statesOf(wanted === '' ? 'all' : wanted);
    const read = await listEntries(session, states, PAGE_ROWS + 1, last);
    const counts = await countEntries(session);
    const total = states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    const { rows: page, ...rest } = listPage(read, (entry) => entry.id, total);
    const rows = await showStanding(dashboard, page);
    const nameOf = await readNames(session, dashboard.kinds, rows);
    const list = html`${rows.length === 0 ? emptyNote(t('No entry.')) : entryTable(rows, nameOf, reader)}
    ${pageLinks(reader, '/outbox', { state: wanted || undefined, before: last }, rest)}`;
    const content = html`${pageTitle(t('Outbox'), t('Creates and updates for the service, newest first'))}
      <ul class="tiles" id="counts" data-live>
        ${ENTRY_STATES.map((state) => tile(reader, `/outbox?state=${state}`, counts[state] ?? 0, t('{n, plural, other {{state}}}', { n: counts[state] ?? 0, state })))}
      </ul>
      ${listPanel('entries', t('Entries'), last === undefined, list)}`;
    return { title: t('Outbox'), content };
  });
}

function entryTable(entries: readonly Entry[], nameOf: NameOf, reader: Reader): Html {
  const { t, when } = reader;
  const names = [t('entry'), t('what'), t('state'), t('changed'), t('next step')];
  const rows = entries.map((entry) => {
    const { id, state, updatedAt } = entry;
    const { resendAt } = entry.settlement;
    return html`<tr>
      <th scope="row"><a href="/outbox/${id}">${id}</a></th>
      <td class="parts">
        <span class="early">${operationLine(entry, nameOf, reader)}</span>
        <p class="small quiet brief" translate="no">
          ${ellipsize(payloadText(entry, reader), LONGEST_PAYLOAD)}
        </p>
      </td>
      <td class="parts">
        ${badge(reader, state)}
        <p class="small quiet brief">${state === 'done' ? null : explain(entry, reader).meaning}</p>
      </td>
      <td class="nowrap early">${when(updatedAt)}</td>
      <td data-title="${t('next step')}" class="nowrap wide">
        ${entry.nextAttemptAt === null ? '–' : when(entry.nextAttemptAt)}
        ${resendAt === undefined ? null : html`<p>${t('not resent before {when}', { when: when(resendAt) })}</p>`}
      </td>
    </tr>`;
  });
  return dataTable(t('Entries of the outbox'), names, rows, 'cards');
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
