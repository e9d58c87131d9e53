import { readChangeLogSize } from '../../mirror/records/change-store.ts';
import type { ChangeLogSize } from '../../mirror/records/change-store.ts';
import { databaseSize, databaseVersion, tableSizes } from '../../mirror/session/database-facts.ts';
import type { TableSize } from '../../mirror/session/database-facts.ts';
import type { Server } from '../server.ts';
import { bytesText, count, dataTable, html } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';

/** Adds the page of sizes. */
export function addStoragePage(app: Server, { session, clock }: Dashboard): void {
  app.get('/storage', pageOptions('Show how large the mirror is', {}), async (_request, reply) => {
    const content = storagePage({
      database: session.location,
      version: await databaseVersion(session),
      bytes: await databaseSize(session),
      changeLog: await readChangeLogSize(session, clock.now()),
      tables: await tableSizes(session),
    });
    return sendPage(reply, { title: 'Storage', part: '/storage', content });
  });
}

/** The facts of the page of sizes. */
interface StorageFacts {
  readonly database: string;
  readonly version: string;
  readonly bytes: number;
  readonly changeLog: ChangeLogSize;
  readonly tables: readonly TableSize[];
}

/** How large the mirror is, and how fast it grows. */
function storagePage({ database, version, bytes, changeLog, tables }: StorageFacts): Html {
  const tile = (strong: string, words: string): Html =>
    html`<li><strong>${strong}</strong><span>${words}</span></li>`;
  return html`<div class="title">
      <h1>Storage</h1>
      <p>${version}: ${database}</p>
    </div>
    <ul class="tiles">
      ${tile(bytesText(bytes), 'the whole database')} ${tile(count(changeLog.events), 'change events, about')}
      ${tile(bytesText(changeLog.bytes), 'in change events, about')}
      ${tile(bytesText(changeLog.bytesPerDay), 'more of them a day')}
    </ul>
    <section class="panel" aria-labelledby="tables-title">
      <header>
        <h2 id="tables-title">Tables</h2>
        <p>estimates: no table is read for this page</p>
      </header>
      ${tableOf(tables)}
    </section>`;
}

function tableOf(tables: readonly TableSize[]): Html {
  const hasBytes = tables.some(({ bytes }) => bytes !== null);
  const rows = tables
    .toSorted((a, b) => (b.bytes ?? b.rows ?? 0) - (a.bytes ?? a.rows ?? 0))
    .map(
      ({ table, rows: about, bytes }) =>
        html`<tr>
          <th scope="row" class="code">${table}</th>
          <td class="number">${about === null ? '–' : count(about)}</td>
          ${hasBytes ? html`<td class="number">${bytes === null ? '–' : bytesText(bytes)}</td>` : null}
        </tr>`,
    );
  return dataTable({
    caption: 'Tables of the mirror, the largest first',
    headings: ['table', { number: 'rows, about' }, ...(hasBytes ? [{ number: 'size with indexes' }] : [])],
    rows,
  });
}
