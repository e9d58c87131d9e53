import * as z from 'zod';
import { latestSeq } from '../mirror/records/change-store.ts';
import { shownUrl } from '../feed/webhooks/endpoints.ts';
import type { UserRole } from '../mirror/people/user-store.ts';
import { listDeliveries } from '../mirror/webhooks/delivery-queue.ts';
import type { LoggedDelivery } from '../mirror/webhooks/delivery-queue.ts';
import { listEndpoints } from '../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../mirror/webhooks/endpoint-store.ts';
import type { Server } from '../http/server.ts';
import { recordLink } from './parts/change-list.ts';
import { decisionForms, endpointButtons, maySend } from './parts/decisions.ts';
import { count, dataTable, html } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { badge, nothing, pageTitle, panel } from './parts/layout.ts';
import { before, chosen, done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { cut } from './parts/values.ts';

const PATH = '/webhooks';

/** Adds the page of webhooks: receivers of events, and their deliveries. */
export function addWebhooksPage(app: Server, { session, readerOf }: Dashboard): void {
  const querystring = z.object({ endpoint: chosen, before, done });
  const options = pageOptions('Show endpoints and their deliveries', { querystring });
  app.get(PATH, options, async ({ caller, query: { done: carriedOut, ...query } }, reply) => {
    const reader = readerOf(reply.request);
    const read = await listDeliveries(session, { ...query, limit: PAGE_ROWS + 1 });
    const endpoints = await listEndpoints(session);
    const none = nothing('None: bms-sync webhooks add URL --name N adds one.');
    const { rows, next } = listPage(read, ({ id }) => id);
    const deliveries = html`${rows.length === 0 ? nothing('None.') : deliveryTable(rows, reader)}
    ${pageLinks(PATH, query, next)}`;
    const choices = endpoints.map(({ name }) => name);
    const content = html`${pageTitle('Webhooks', 'Events that are sent to other programs')}
    ${panel(
      { id: 'endpoints', title: 'Endpoints', isLive: true },
      endpoints.length === 0 ? none : endpointTable(endpoints, reader, caller?.role),
    )}
    ${filterForm(PATH, [{ name: 'endpoint', label: 'endpoint', value: query.endpoint, choices }])}
    ${panel({ id: 'deliveries', title: 'Deliveries', isLive: query.before === undefined }, deliveries)}`;
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Webhooks', part: PATH, content, after, done: carriedOut });
  });
}

const HEALTH = { healthy: 'good', failing: 'warn', disabled: 'bad' };

function endpointTable(endpoints: readonly EndpointStanding[], reader: Reader, role?: UserRole): Html {
  const mayDecide = maySend(role, `${PATH}/name/enable`);
  const rows = endpoints.map((endpoint) => {
    const { name, kinds, changes, health, pending, pendingSince, deliveredAt, failures } = endpoint;
    return html`<tr>
      <th scope="row">${name} ${badge(health, HEALTH)}</th>
      <td class="small brief">${shownUrl(endpoint)}</td>
      <td class="small brief">
        ${kinds === null ? 'all kinds' : kinds.join(', ')};
        ${changes === null ? 'all changes' : changes.join(', ')}
      </td>
      <td data-title="delivered" class="nowrap early">
        ${deliveredAt === null ? 'never' : reader.when(deliveredAt)}
      </td>
      <td data-title="waiting" class="number early ${pending === 0 ? 'blank' : ''}">
        ${pending === 0 ? '–' : count(pending)}
        ${pendingSince === null ? null : html`<p class="small quiet wide">since ${reader.when(pendingSince)}</p>`}
      </td>
      <td class="number wide">${failures === 0 ? '–' : count(failures)}</td>
      ${mayDecide ? html`<td class="decide">${decisionForms(endpointButtons(endpoint), PATH, role)}</td>` : null}
    </tr>`;
  });
  const numbers = [{ number: 'waiting' }, { number: 'failures in a row' }];
  const decide = mayDecide ? ['decide'] : [];
  const headings = ['endpoint', 'address', 'events', 'delivered', ...numbers, ...decide];
  return dataTable('Endpoints, by name', headings, rows, 'cards');
}

const STATES = { ready: 'info', delivered: 'good', failed: 'bad' };

const LONGEST_ANSWER = 120;

function deliveryTable(deliveries: readonly LoggedDelivery[], reader: Reader): Html {
  const rows = deliveries.map(
    (delivery) =>
      html`<tr>
        <th scope="row">${delivery.type}</th>
        <td data-title="to">${delivery.endpoint}</td>
        <td>${recordOf(delivery)}</td>
        <td class="early">${badge(delivery.state, STATES)}</td>
        <td class="small brief">
          ${delivery.status ?? delivery.error ?? '–'}
          <span class="quiet">${cut(delivery.responseStart ?? '', LONGEST_ANSWER)}</span>
        </td>
        <td data-title="attempts" class="number wide">${delivery.attempts}</td>
        <td class="nowrap early">${reader.when(delivery.createdAt)}</td>
      </tr>`,
  );
  const headings = ['event', 'endpoint', 'record', 'state', 'answer', { number: 'attempts' }, 'planned'];
  return dataTable('Deliveries, the newest first', headings, rows, 'cards');
}

function recordOf({ kind, recordId, seq }: LoggedDelivery): Html {
  if (kind === null) return html`–`;
  if (recordId === null) return html`<a href="/kinds/${kind}">${kind}</a>`;
  const event =
    seq === null ? null : html` <a class="small" href="/changes?before=${seq + 1}">event ${seq}</a>`;
  return html`${recordLink(kind, recordId)}${event}`;
}
