import type { ListedRecord } from '../../mirror/records/record-store.ts';
import { recordAddress, recordName } from './parts/change-list.ts';
import { html, dataTable } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { PAGE_ROWS, addressOf } from './parts/paging.ts';
import { exactly } from './parts/words.ts';

/** Records of a kind in the order of their ids; `records` may be one more than the page shows. */
export function recordsPage(kind: string, records: readonly ListedRecord[], after: string | undefined): Html {
  const shown = records.slice(0, PAGE_ROWS);
  const last = records.length > PAGE_ROWS ? shown.at(-1)?.id : undefined;
  const path = `/records/${encodeURIComponent(kind)}`;
  return html`<div class="title">
      <h1>Records of ${kind}</h1>
      <p>by id${after === undefined ? '' : `, after ${after}`}</p>
    </div>
    <form class="filters" method="get" action="${path}" role="search">
      <label>id <input name="id" inputmode="numeric" required /></label><button>Open</button>
    </form>
    <section class="panel" aria-label="Records">
      ${shown.length === 0 ? html`<p class="none">None.</p>` : recordTable(kind, shown)}
      <nav class="pages" aria-label="Pages of the list">
        <span>${after === undefined ? null : html`<a class="button" href="${path}">First</a>`}</span>
        <span
          >${last === undefined ? null : html`<a class="button" rel="next" href="${addressOf(path, { after: last })}">Next</a>`}</span
        >
      </nav>
    </section>`;
}

function recordTable(kind: string, records: readonly ListedRecord[]): Html {
  const rows = records.map(
    ({ id, raw, changedAt, deletedAt }) =>
      html`<tr>
        <th scope="row"><a href="${recordAddress(kind, id)}">${id}</a></th>
        <td data-title="name">${recordName(raw)}</td>
        <td data-title="state">
          <span class="state ${deletedAt === null ? 'good' : 'bad'}"
            >${deletedAt === null ? 'live' : 'deleted'}</span
          >
        </td>
        <td data-title="changed (UTC)" class="small nowrap">${exactly(deletedAt ?? changedAt)}</td>
      </tr>`,
  );
  return dataTable(
    {
      caption: 'Records in the order of their ids',
      headings: ['id', 'name', 'state', 'changed (UTC)'],
      rows,
    },
    'cards',
  );
}
