import * as z from 'zod';
import { recordsAfter } from '../mirror/records/record-store.ts';
import { kindName, recordId, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { recordAddress, recordName } from './parts/change-list.ts';
import { dataTable, html } from '../http/html.ts';
import { badge, nothing, pageTitle } from './parts/layout.ts';
import { pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { addressOf, PAGE_ROWS } from './parts/paging.ts';

/** Adds the page of a kind's records in the order of their ids. */
export function addRecordsPage(app: Server, { session, kinds, times }: Dashboard): void {
  const options = pageOptions('Show records of a kind by their ids', {
    params: z.strictObject({ kind: kindName(kinds) }),
    querystring: z.object({ after: recordId.optional(), id: recordId.optional() }),
  });
  app.get('/records/:kind', options, async ({ params: { kind: name }, query: { after, id } }, reply) => {
    const { name: kind } = requireKind(kinds, name);
    if (id !== undefined) return reply.redirect(`/records/${kind}/${id}`, 303);
    const records = await recordsAfter(session, kind, { after, limit: PAGE_ROWS + 1 });
    const shown = records.slice(0, PAGE_ROWS);
    const last = records.length > PAGE_ROWS ? shown.at(-1)?.id : undefined;
    const path = `/records/${encodeURIComponent(kind)}`;
    const title = `Records of ${kind}`;
    const rows = shown.map(
      ({ id: one, raw, changedAt, deletedAt }) =>
        html`<tr>
          <th scope="row"><a href="${recordAddress(kind, one)}">${one}</a></th>
          <td class="brief">${recordName(raw)}</td>
          <td class="early">${badge(deletedAt === null ? 'live' : 'deleted', TONES)}</td>
          <td class="small nowrap early">${times.exactly(deletedAt ?? changedAt)}</td>
        </tr>`,
    );
    const headings = ['id', 'name', 'state', 'changed'];
    const table = dataTable('Records in the order of their ids', headings, rows, 'cards');
    const first = html`<a class="button" href="${path}">First</a>`;
    const following = html`<a class="button" rel="next" href="${addressOf(path, { after: last })}">Next</a>`;
    const content = html`${pageTitle(title, `by id${after === undefined ? '' : `, after ${after}`}`)}
      <form class="filters" method="get" action="${path}" role="search">
        <label>id <input name="id" inputmode="numeric" required /></label><button>Open</button>
      </form>
      <section class="panel" aria-label="Records">
        ${shown.length === 0 ? nothing('None.') : table}
        <nav class="pages" aria-label="Pages of the list">
          <span>${after === undefined ? null : first}</span>
          <span>${last === undefined ? null : following}</span>
        </nav>
      </section>`;
    return sendPage(reply, { title, part: '/kinds', content });
  });
}

const TONES = { live: 'good', deleted: 'bad' };
