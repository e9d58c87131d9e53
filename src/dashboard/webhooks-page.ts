import * as z from 'zod';
import { maskedUrl, type RevealedSecret } from '../events/webhooks/endpoints.ts';
import type { EndpointTest } from '../events/webhooks/test-event.ts';
import type { UserRole } from '../store/users/user-store.ts';
import { listDeliveries, type LoggedDelivery } from '../events/webhooks/delivery-queue.ts';
import { listEndpoints, type EndpointWithHealth } from '../events/webhooks/endpoint-store.ts';
import type { Server, Typed } from '../http/server.ts';
import type { MessageKey, Translator } from '../lib/text/translator.ts';
import { addWebhook, testWebhook } from '../operations/webhooks.ts';
import { recordLink } from './parts/change-list.ts';
import { decisionForms, endpointButtons, canSend, type DecisionButton } from './parts/decisions.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { badge, emptyNote, pageTitle, panel, secretPanel } from './parts/layout.ts';
import { addPage, addResultForm, beforeId, type Dashboard, type PageRequest } from './parts/page.ts';
import { filterValue } from '../operations/inputs.ts';
import type { Reader } from './parts/reader.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { ellipsize, labelledKind, labelledKinds } from './parts/values.ts';

const PATH = '/webhooks';

export function addWebhooksPage(app: Server, dashboard: Dashboard): void {
  const querystring = z.object({ endpoint: filterValue, before: beforeId });
  const page = { path: PATH, summary: 'Show endpoints and their deliveries', querystring };
  addPage(app, dashboard, page, (request) => webhooksPage(dashboard, request));
  addResultForm(app, dashboard, { ...addWebhook, formOf: addForm }, (request, document) => {
    const { name, secret } = document as RevealedSecret;
    const { t } = request.reader;
    const title = t('{name} was added', { name });
    if (request.params['format'] !== 'json')
      return webhooksPage(dashboard, request, noticeOf(`${title}.`, true));
    const note = t('{name} checks signatures with this secret, which is not shown again:', { name });
    return webhooksPage(dashboard, request, secretPanel(request.reader, title, note, secret));
  });
  addResultForm(app, dashboard, testWebhook, (request, document) => {
    const { name, delivered, error, status } = document as EndpointTest;
    const { t } = request.reader;
    const outcome = { name, cause: status ?? error ?? '' };
    const text = delivered ? t('{name} accepted the test.', outcome) : t(FAILED, outcome);
    return webhooksPage(dashboard, request, noticeOf(text, delivered));
  });
}

const FAILED: MessageKey = '{name} has not accepted the test: {cause}. The list of deliveries shows more.';

const noticeOf = (text: string, isGood: boolean): Html =>
  html`<p class="notice ${isGood ? '' : 'bad'}" role="status">${text}</p>`;

type Filters = Readonly<Partial<{ endpoint: string | undefined; before: number | undefined }>>;

async function webhooksPage(dashboard: Dashboard, request: PageRequest<unknown, Filters>, result?: Html) {
  const { user, query, reader } = request;
  const { session } = dashboard;
  const { t } = reader;
  const { before: last, endpoint } = query;
  const { read, total } = await listDeliveries(session, { endpoint, before: last, limit: PAGE_ROWS + 1 });
  const endpoints = await listEndpoints(session);
  const { rows, ...rest } = listPage(read, (delivery) => delivery.id, total);
  const deliveries = html`${rows.length === 0 ? emptyNote(t('None.')) : deliveryTable(rows, reader)}
  ${pageLinks(reader, PATH, { endpoint, before: last }, rest)}`;
  const choices = endpoints.map((endpoint) => endpoint.name);
  const content = html`${pageTitle(t('Webhooks'), t('Events that are sent to people and to other programs'))}
  ${result ?? null}
  ${panel(
    { id: 'endpoints', title: t('Endpoints'), isLive: true },
    endpoints.length === 0 ? emptyNote(t('None.')) : endpointTable(endpoints, reader, user?.role),
  )}
  ${canSend(user?.role, PATH) ? addForm(reader) : null}
  ${filterForm(reader, PATH, [{ name: 'endpoint', label: t('endpoint'), value: endpoint, choices }])}
  ${panel({ id: 'deliveries', title: t('Deliveries'), isLive: last === undefined }, deliveries)}`;
  return { title: t('Webhooks'), content };
}

/** The receivers that most people add; `format` of the operation. */
const RECEIVERS = { slack: 'Slack', teams: 'Teams', email: 'E-mail', json: 'URL' } as const;

function addForm(reader: Translator, { name = '', format = '', url = '' }: Typed = {}): Html {
  const { t, language } = reader;
  const formats = Object.entries(RECEIVERS).map(
    ([value, label]) =>
      html`<option value="${value}" ${value === format ? html`selected` : null}>${t(label)}</option>`,
  );
  const form = html`<form class="filters body" method="post" action="${PATH}">
    <input type="hidden" name="language" value="${language}" />
    <label
      >${t('name')} <input name="name" value="${name}" required maxlength="64" autocomplete="off"
    /></label>
    <label
      >${t('receiver')}
      <select name="format">
        ${formats}
      </select></label
    >
    <label
      >${t('address')} <input name="url" value="${url}" required maxlength="2048" autocomplete="off"
    /></label>
    <button class="main">${t('Add')}</button>
  </form>`;
  const note = t('Slack and Teams: the address of an incoming webhook. E-mail: one address.');
  return panel({ id: 'add', title: t('Add a receiver'), note, isLive: false }, form);
}

function endpointTable(endpoints: readonly EndpointWithHealth[], reader: Reader, role?: UserRole): Html {
  const canDecide = canSend(role, `${PATH}/name/enable`);
  const { t, tEach, term, count, when } = reader;
  const buttonsOf = (endpoint: EndpointWithHealth): readonly DecisionButton[] => [
    ...endpointButtons(reader, endpoint),
    { label: t('Test'), about: endpoint.name, address: `${PATH}/${endpoint.name}/test` },
  ];
  const rows = endpoints.map((endpoint) => {
    const { name, kinds, changes, health, pending, pendingSince, nextAttemptAt, deliveredAt, failures } =
      endpoint;
    return html`<tr>
      <th scope="row"><span translate="no">${name}</span> ${badge(reader, health)}</th>
      <td class="small brief" translate="no">${maskedUrl(endpoint, role)}</td>
      <td class="small brief">
        ${kinds === null ? t('all kinds') : labelledKinds(reader, kinds)};
        ${changes === null ? t('all changes') : changes.map(term).join(', ')}
      </td>
      <td data-title="${t('last delivery')}" class="nowrap early">
        ${deliveredAt === null ? t('never') : when(deliveredAt)}
      </td>
      <td data-title="${t('waiting')}" class="number early ${pending === 0 ? 'blank' : ''}">
        ${pending === 0 ? '–' : count(pending)}
        ${pendingSince === null ? null : html`<p class="small quiet wide">${t('oldest {when}', { when: when(pendingSince) })}</p>`}
        ${nextAttemptAt === null ? null : html`<p class="small quiet wide">${t('next attempt {when}', { when: when(nextAttemptAt) })}</p>`}
      </td>
      <td class="number wide">${failures === 0 ? '–' : count(failures)}</td>
      ${canDecide ? html`<td class="decide">${decisionForms(buttonsOf(endpoint), PATH, role)}</td>` : null}
    </tr>`;
  });
  const numbers = tEach('waiting', 'failures in a row').map((number) => ({ number }));
  const decide = canDecide ? [t('decide')] : [];
  const names = tEach('endpoint', 'address', 'events', 'last delivery');
  const headings = [...names, ...numbers, ...decide];
  return dataTable(t('Endpoints, by name'), headings, rows, 'cards');
}

const LONGEST_ANSWER = 120;

function deliveryTable(deliveries: readonly LoggedDelivery[], reader: Reader): Html {
  const { t, tEach, when } = reader;
  const rows = deliveries.map(
    (delivery) =>
      html`<tr>
        <th scope="row">${eventName(delivery, reader)}</th>
        <td data-title="${t('endpoint')}" translate="no">${delivery.endpoint}</td>
        <td>${recordOf(delivery, reader)}</td>
        <td class="early">${badge(reader, delivery.state)}</td>
        <td class="small brief" translate="no">
          ${delivery.status ?? delivery.error ?? '–'}
          <span class="quiet">${ellipsize(delivery.responseStart ?? '', LONGEST_ANSWER)}</span>
        </td>
        <td data-title="${t('attempts')}" class="number wide">${delivery.attempts}</td>
        <td class="nowrap early">${when(delivery.createdAt)}</td>
      </tr>`,
  );
  const names = tEach('event', 'endpoint', 'record', 'state', 'answer');
  const headings = [...names, { number: t('attempts') }, t('planned')];
  return dataTable(t('Deliveries, newest first'), headings, rows, 'cards');
}

/** A change of a record by its state; a notification by its type. */
const eventName = ({ type, kind }: LoggedDelivery, reader: Reader): Html =>
  kind !== null && type.startsWith(`${kind}.`)
    ? html`<span title="${type}">${reader.term(type.slice(kind.length + 1))}</span>`
    : html`<span translate="no">${type}</span>`;

function recordOf(delivery: LoggedDelivery, reader: Reader): Html {
  const { kind, recordId, seq } = delivery;
  if (kind === null) return html`–`;
  if (recordId === null) return html`<a href="/kinds/${kind}">${labelledKind(reader, kind)}</a>`;
  const event =
    seq === null
      ? null
      : html` <a class="small" href="/changes?before=${seq + 1}">${reader.t('event {seq}', { seq })}</a>`;
  return html`${recordLink(reader, kind, recordId)}${event}`;
}
