import type { Entry, EntryState } from '../../../mirror/outbox/outbox-store.ts';
import { explain } from '../../../outbound/report/verdicts.ts';
import { cut, recordAddress } from './change-list.ts';
import { dataTable } from './data-table.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { when } from './words.ts';

const TONES: Record<EntryState, string> = {
  ready: 'plain',
  sending: 'info',
  unsettled: 'warn',
  done: 'good',
  parked: 'warn',
  rejected: 'bad',
  abandoned: 'plain',
};

export const entryBadge = (state: EntryState): Html =>
  html`<span class="state ${TONES[state]}">${state}</span>`;

/** The record of an entry, as a link; nothing while it has none. */
export function entryRecord({ kind, recordId }: Pick<Entry, 'kind' | 'recordId'>): Html {
  return recordId === null
    ? html`${kind}`
    : html`<a href="${recordAddress(kind, recordId)}">${kind} ${recordId}</a>`;
}

/** Entries of the outbox as a table, in the given order. */
export function entryTable(entries: readonly Entry[], now: Date): Html {
  return dataTable(
    {
      caption: 'Entries of the outbox',
      headings: ['entry', 'what', 'state', 'changed', 'next try', { number: 'tries' }],
      rows: entries.map((entry) => entryRow(entry, now)),
    },
    'cards',
  );
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
