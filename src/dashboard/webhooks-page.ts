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

const HEALTH = { healthy: 'good', failing: 'warn', disabled: 'bad' } as const;

/** Receivers of events, and their deliveries. */
function webhooksPage(facts: WebhookFacts): Html {
  const { endpoints, query, page, now } = facts;
  const names = endpoints.map(({ name }) => name);
  return html`<div class="title">
      <h1>Webhooks</h1>
      <p>Events that are sent to other programs</p>
    </div>
    <section class="panel" aria-labelledby="endpoints-title" id="endpoints" data-live>
      <header><h2 id="endpoints-title">Endpoints</h2></header>
      ${endpoints.length === 0 ? html`<p class="none">None: bms-sync webhooks add URL --name N adds one.</p>` : endpointTable(facts)}
    </section>
    ${filterForm(PATH, [{ name: 'endpoint', label: 'endpoint', value: query.endpoint, choices: names }])}
    <section
      class="panel"
      aria-labelledby="deliveries-title"
      id="deliveries"
      ${query.before === undefined ? html`data-live` : null}
    >
      <header><h2 id="deliveries-title">Deliveries</h2></header>
      ${page.rows.length === 0 ? html`<p class="none">None.</p>` : deliveryTable(page.rows, now)}
      ${pageLinks({ path: PATH, query, next: page.next })}
    </section>`;
}

function endpointTable({ endpoints, now, mayDecide }: WebhookFacts): Html {
  const rows = endpoints.map((endpoint) => {
    const { name, kinds, changes, health, pending, pendingSince, deliveredAt, failures } = endpoint;
    return html`<tr>
      <th scope="row">${name} <span class="state ${HEALTH[health]}">${health}</span></th>
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
  return dataTable(
    {
      caption: 'Endpoints, by name',
      headings: [
        'endpoint',
        'address',
        'events',
        'delivered',
        { number: 'waiting' },
        { number: 'failures in a row' },
        ...(mayDecide ? ['decide'] : []),
      ],
      rows,
    },
    'cards',
  );
}

const STATES: Record<LoggedDelivery['state'], string> = {
  ready: 'info',
  waiting: 'plain',
  delivered: 'good',
  failed: 'bad',
  dropped: 'plain',
};

const LONGEST_ANSWER = 120;

function deliveryTable(deliveries: readonly LoggedDelivery[], now: Date): Html {
  const rows = deliveries.map(
    (delivery) =>
      html`<tr>
        <th scope="row">${delivery.type}</th>
        <td data-title="endpoint">${delivery.endpoint}</td>
        <td data-title="record">${recordOf(delivery)}</td>
        <td data-title="state"><span class="state ${STATES[delivery.state]}">${delivery.state}</span></td>
        <td data-title="answer" class="small">
          ${delivery.status ?? delivery.error ?? '–'}
          <span class="quiet">${cut(delivery.responseStart ?? '', LONGEST_ANSWER)}</span>
        </td>
        <td data-title="attempts" class="number">${delivery.attempts}</td>
        <td data-title="planned" class="nowrap">${when(delivery.createdAt, now)}</td>
      </tr>`,
  );
  return dataTable(
    {
      caption: 'Deliveries, the newest first',
      headings: ['event', 'endpoint', 'record', 'state', 'answer', { number: 'attempts' }, 'planned'],
      rows,
    },
    'cards',
  );
}

function recordOf({ kind, recordId, seq }: LoggedDelivery): Html {
  if (kind === null) return html`–`;
  if (recordId === null) return html`<a href="/kinds/${kind}">${kind}</a>`;
  const event =
    seq === null ? null : html` <a class="small" href="/changes?before=${seq + 1}">event ${seq}</a>`;
  return html`<a href="${recordAddress(kind, recordId)}">${kind} ${recordId}</a>${event}`;
}
