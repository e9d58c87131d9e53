import * as z from 'zod';
import { latestSeq } from '../mirror/records/change-store.ts';
import { shownUrl } from '../feed/webhooks/endpoints.ts';
import { listDeliveries } from '../mirror/webhooks/delivery-store.ts';
import type { LoggedDelivery } from '../mirror/webhooks/delivery-store.ts';
import { listEndpoints } from '../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../mirror/webhooks/endpoint-store.ts';
import type { Server } from '../http/server.ts';
import { cut, recordAddress } from './parts/change-list.ts';
import { decisionForms, endpointButtons } from './parts/decisions.ts';
import { count, dataTable, html, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { badge, nothing, pageTitle, panel } from './parts/layout.ts';
import { before, chosen, done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';

const PATH = '/webhooks';

/** Adds the page of webhooks. */
export function addWebhooksPage(app: Server, { session, clock, access }: Dashboard): void {
  const querystring = z.object({ endpoint: chosen, before, done });
  const options = pageOptions('Show endpoints and their deliveries', { querystring });
  app.get(PATH, options, async ({ query: { done: carriedOut, ...query } }, reply) => {
    const read = await listDeliveries(session, { ...query, limit: PAGE_ROWS + 1 });
    const content = webhooksPage({
      query,
      now: clock.now(),
      page: listPage(read, ({ id }) => id),
      mayDecide: access.hasToken,
      endpoints: await listEndpoints(session),
    });
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Webhooks', part: PATH, content, after, done: carriedOut });
  });
}

/** The facts of the page of webhooks. */
interface WebhookFacts {
  readonly endpoints: readonly EndpointStanding[];
  readonly query: { readonly endpoint?: string | undefined; readonly before?: number | undefined };
  readonly page: RowsShown<LoggedDelivery>;
  readonly now: Date;
  readonly mayDecide: boolean;
}

const HEALTH = { healthy: 'good', failing: 'warn', disabled: 'bad' };

/** Receivers of events, and their deliveries. */
function webhooksPage(facts: WebhookFacts): Html {
  const { endpoints, query, page, now } = facts;
  const names = endpoints.map(({ name }) => name);
  const none = nothing('None: bms-sync webhooks add URL --name N adds one.');
  const deliveries = page.rows.length === 0 ? nothing('None.') : deliveryTable(page.rows, now);
  return html`${pageTitle('Webhooks', 'Events that are sent to other programs')}
  ${panel({ id: 'endpoints', title: 'Endpoints', isLive: true }, endpoints.length === 0 ? none : endpointTable(facts))}
  ${filterForm(PATH, [{ name: 'endpoint', label: 'endpoint', value: query.endpoint, choices: names }])}
  ${panel(
    { id: 'deliveries', title: 'Deliveries', isLive: query.before === undefined },
    html`${deliveries} ${pageLinks(PATH, query, page.next)}`,
  )}`;
}

function endpointTable({ endpoints, now, mayDecide }: WebhookFacts): Html {
  const rows = endpoints.map((endpoint) => {
    const { name, kinds, changes, health, pending, pendingSince, deliveredAt, failures } = endpoint;
    return html`<tr>
      <th scope="row">${name} ${badge(health, HEALTH)}</th>
      <td data-title="address" class="small">${shownUrl(endpoint)}</td>
      <td data-title="events" class="small">
        ${kinds === null ? 'all kinds' : kinds.join(', ')};
        ${changes === null ? 'all changes' : changes.join(', ')}
      </td>
      <td data-title="delivered" class="nowrap">
        ${deliveredAt === null ? 'never' : when(deliveredAt, now)}
      </td>
      <td data-title="waiting" class="number">
        ${pending === 0 ? '–' : count(pending)}
        ${pendingSince === null ? null : html`<p class="small quiet">since ${when(pendingSince, now)}</p>`}
      </td>
      <td data-title="failures in a row" class="number">${failures === 0 ? '–' : count(failures)}</td>
      ${mayDecide ? html`<td data-title="decide">${decisionForms(endpointButtons(endpoint), PATH)}</td>` : null}
    </tr>`;
  });
  const numbers = [{ number: 'waiting' }, { number: 'failures in a row' }];
  const headings = [
    'endpoint',
    'address',
    'events',
    'delivered',
    ...numbers,
    ...(mayDecide ? ['decide'] : []),
  ];
  return dataTable('Endpoints, by name', headings, rows, 'cards');
}

const STATES = { ready: 'info', delivered: 'good', failed: 'bad' };

const LONGEST_ANSWER = 120;

function deliveryTable(deliveries: readonly LoggedDelivery[], now: Date): Html {
  const rows = deliveries.map(
    (delivery) =>
      html`<tr>
        <th scope="row">${delivery.type}</th>
        <td data-title="endpoint">${delivery.endpoint}</td>
        <td data-title="record">${recordOf(delivery)}</td>
        <td data-title="state">${badge(delivery.state, STATES)}</td>
        <td data-title="answer" class="small">
          ${delivery.status ?? delivery.error ?? '–'}
          <span class="quiet">${cut(delivery.responseStart ?? '', LONGEST_ANSWER)}</span>
        </td>
        <td data-title="attempts" class="number">${delivery.attempts}</td>
        <td data-title="planned" class="nowrap">${when(delivery.createdAt, now)}</td>
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
  return html`<a href="${recordAddress(kind, recordId)}">${kind} ${recordId}</a>${event}`;
}
