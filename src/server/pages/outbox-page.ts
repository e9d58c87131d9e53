import type { Entry, EntryState } from '../../mirror/outbox/outbox-store.ts';
import { STATES } from '../../outbound/report/entry-list.ts';
import { entryTable } from './parts/entry-table.ts';
import { html } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { filterForm, pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';
import { count } from './parts/words.ts';

/** The facts of the page of the outbox. */
interface OutboxFacts {
  readonly counts: Partial<Record<EntryState, number>>;
  readonly query: { readonly state?: string | undefined; readonly before?: number | undefined };
  readonly page: RowsShown<Entry>;
  readonly now: Date;
}

/** Creates and updates on their way to the service, the newest first. */
export function outboxPage({ counts, query, page, now }: OutboxFacts): Html {
  return html`<div class="title">
      <h1>Outbox</h1>
      <p>Creates and updates for the service, the newest first</p>
    </div>
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
    <section
      class="panel"
      aria-label="Entries"
      id="entries"
      ${query.before === undefined ? html`data-live` : null}
    >
      ${page.rows.length === 0 ? html`<p class="none">No entry.</p>` : entryTable(page.rows, now)}
      ${pageLinks({ path: '/outbox', query, next: page.next })}
    </section>`;
}
