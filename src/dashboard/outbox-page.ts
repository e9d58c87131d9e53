import * as z from 'zod';
import { latestSeq } from '../mirror/records/change-store.ts';
import { countEntries, listEntries } from '../mirror/outbox/outbox-store.ts';
import type { Entry, EntryState } from '../mirror/outbox/outbox-store.ts';
import { OPEN_STATES, STATES } from '../outbound/decisions/entry-list.ts';
import { explain } from '../outbound/decisions/verdicts.ts';
import type { Server } from '../http/server.ts';
import { cut, recordAddress } from './parts/change-list.ts';
import { count, dataTable, html, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { badge, listPanel, nothing, pageTitle } from './parts/layout.ts';
import { before, done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';

/** Adds the page of the outbox. */
export function addOutboxPage(app: Server, { session, clock }: Dashboard): void {
  const state = z.enum(['', 'open', ...STATES]).optional();
  const options = pageOptions('Show the outbox', { querystring: z.object({ state, before, done }) });
  app.get('/outbox', options, async ({ query }, reply) => {
    const { state: wanted = '', before: last, done: carriedOut } = query;
    const states = wanted === '' ? STATES : wanted === 'open' ? OPEN_STATES : [wanted];
    const read = await listEntries(session, { states, before: last, limit: PAGE_ROWS + 1 });
    const shown = listPage(read, ({ id }) => id);
    const counts = await countEntries(session);
    const content = outboxPage({ state: wanted || undefined, before: last }, counts, shown, clock.now());
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Outbox', part: '/outbox', content, after, done: carriedOut });
  });
}

/** Creates and updates on their way to the service, the newest first. */
function outboxPage(
  query: { readonly state: string | undefined; readonly before: number | undefined },
  counts: Partial<Record<EntryState, number>>,
  { rows, next }: RowsShown<Entry>,
  now: Date,
): Html {
  const list = html`${rows.length === 0 ? nothing('No entry.') : entryTable(rows, now)}
  ${pageLinks('/outbox', query, next)}`;
  return html`${pageTitle('Outbox', 'Creates and updates for the service, the newest first')}
    <ul class="tiles" id="counts" data-live>
      ${STATES.map(
        (state) =>
          html`<li>
            <strong>${count(counts[state] ?? 0)}</strong
            ><span><a href="/outbox?state=${state}">${state}</a></span>
          </li>`,
      )}
    </ul>
    ${filterForm('/outbox', [{ name: 'state', label: 'state', value: query.state, choices: ['open', ...STATES] }])}
    ${listPanel('entries', 'Entries', query.before === undefined, list)}`;
}

function entryTable(entries: readonly Entry[], now: Date): Html {
  const headings = ['entry', 'what', 'state', 'changed', 'next try', { number: 'tries' }];
  const rows = entries.map((entry) => entryRow(entry, now));
  return dataTable('Entries of the outbox', headings, rows, 'cards');
}

const LONGEST_PAYLOAD = 90;

function entryRow(entry: Entry, now: Date): Html {
  const { id, operation, state, payload, attempts, updatedAt, nextAttemptAt } = entry;
  return html`<tr>
    <th scope="row"><a href="/outbox/${id}">${id}</a></th>
    <td data-title="what">
      ${operation} ${entryRecord(entry)}
      <p class="small quiet code">${cut(payload, LONGEST_PAYLOAD)}</p>
    </td>
    <td data-title="state">
      ${entryBadge(state)}
      <p class="small quiet">${state === 'done' ? null : explain(entry).meaning}</p>
    </td>
    <td data-title="changed" class="nowrap">${when(updatedAt, now)}</td>
    <td data-title="next try" class="nowrap">${nextAttemptAt === null ? '–' : when(nextAttemptAt, now)}</td>
    <td data-title="tries" class="number">${attempts}</td>
  </tr>`;
}

const TONES = {
  sending: 'info',
  unsettled: 'warn',
  done: 'good',
  parked: 'warn',
  rejected: 'bad',
};

/** The state of an entry as a coloured word. */
export const entryBadge = (state: EntryState): Html => badge(state, TONES);

/** The record of an entry, as a link; nothing while it has none. */
export function entryRecord({ kind, recordId }: Entry): Html {
  return recordId === null
    ? html`${kind}`
    : html`<a href="${recordAddress(kind, recordId)}">${kind} ${recordId}</a>`;
}
