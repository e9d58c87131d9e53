import { outcomeWords } from '../../mirror/kinds/outcome-words.ts';
import { idsShown } from '../../mirror/records/deletion-store.ts';
import type { Status } from '../status.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

/** The status of the mirror as a page. */
export function statusPage(status: Status): Html {
  return html`<h1>bms-sync</h1>
    <p>${status.database}</p>
    ${needs(status)} ${kindTable(status)} ${uncertifiedTable(status)} ${disappearedTable(status)}
    ${outboxTable(status)} ${issueTable(status)}`;
}

function needs({ kinds, outbox, blockedKinds, frozen, damage }: Status): Html {
  const told = [
    ...(damage === null ? [] : [damage.reason]),
    ...(frozen === null ? [] : [`nothing is sent: ${frozen.reason}`]),
    ...(outbox.parked > 0 ? [`${outbox.parked} parked in the outbox`] : []),
    ...blockedKinds.map(({ kind, reason }) => `${kind} may not be written (${reason})`),
    ...kinds
      .filter(({ held_deletions: held }) => held > 0)
      .map(({ kind, held_deletions: held }) => `${held} deletions of ${kind} are held`),
  ];
  if (told.length === 0) return html``;
  return html`<p class="fault">Needs you: ${told.join(', ')}</p>`;
}

function kindTable({ kinds }: Status): Html {
  const rows = kinds.map(
    (row) =>
      html`<tr>
        <th scope="row">${row.kind}</th>
        <td>${outcomeWords({ state: row.state, reason: row.reason }).label}</td>
        <td class="number">${row.rows}</td>
        <td>${row.last_sweep_at}</td>
        <td>${row.certified_at}</td>
        <td>${row.last_change_at}</td>
        <td class="number">${row.open_issues}</td>
      </tr>`,
  );
  return table(
    'Record kinds',
    ['kind', 'state', 'rows', 'last sweep (UTC)', 'certified (UTC)', 'last change (UTC)', 'open issues'],
    rows,
  );
}

function uncertifiedTable({ uncertified }: Status): Html {
  if (uncertified.length === 0) return html``;
  const rows = uncertified.map(
    ({ kind, since, why, next, waiting }) =>
      html`<tr>
        <th scope="row">${kind}</th>
        <td>${since ?? 'never was'}</td>
        <td>${why}</td>
        <td>${next}</td>
        <td class="number">${waiting.suspectedDeletions}</td>
        <td class="number">${waiting.heldDeletions}</td>
        <td class="number">${waiting.unsettledCreates}</td>
      </tr>`,
  );
  const waits = ['suspected deletions', 'held deletions', 'unsettled creates'];
  return table('Not certified', ['kind', 'not since (UTC)', 'why', 'next', ...waits], rows);
}

function disappearedTable({ disappeared }: Status): Html {
  if (disappeared.length === 0) return html``;
  const rows = disappeared.map(
    ({ kind, state, records, since, ids }) =>
      html`<tr>
        <th scope="row">${kind}</th>
        <td>${state}</td>
        <td class="number">${records}</td>
        <td>${since}</td>
        <td>${idsShown({ ids, records })}</td>
      </tr>`,
  );
  const titles = ['kind', 'state', 'records', 'missing since (UTC)', 'ids'];
  return table('No longer listed, and still in the mirror', titles, rows);
}

function outboxTable({ outbox }: Status): Html {
  const rows = Object.entries(outbox).map(
    ([state, count]) =>
      html`<tr>
        <th scope="row">${state}</th>
        <td class="number">${count}</td>
      </tr>`,
  );
  return table('Outbox', ['state', 'entries'], rows);
}

function issueTable({ issues }: Status): Html {
  if (issues.length === 0) return html``;
  const rows = issues.map(
    ({ kind, field, code, count }) =>
      html`<tr>
        <th scope="row">${kind}</th>
        <td>${field}</td>
        <td>${code}</td>
        <td class="number">${count}</td>
      </tr>`,
  );
  return table('Open issues', ['kind', 'field', 'code', 'records'], rows);
}

function table(caption: string, titles: readonly string[], rows: readonly Html[]): Html {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        ${titles.map((title) => html`<th scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
