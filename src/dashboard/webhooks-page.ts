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
import { html, type Html } from '../http/html.ts';
import { filterForm, formOf } from './parts/forms.ts';
import { badge, column, countColumn, dataTable, panel, secretPanel } from './parts/layout.ts';
import { pageAt, addResultForm, beforeId, type Dashboard, type PageRequest } from './parts/page.ts';
import { filterValue } from '../operations/inputs.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { ellipsize, labelledKind, labelledKinds } from './parts/values.ts';

const PATH = '/webhooks';

export function addWebhooksPage(app: Server, dashboard: Dashboard): void {
  const querystring = z.object({ endpoint: filterValue, before: beforeId });
  const page = { path: PATH, summary: 'Show endpoints and their deliveries', querystring };
  pageAt(page, webhooksPage)(app, dashboard);
  const adding = { context: dashboard, operation: { ...addWebhook, formOf: addForm } };
  addResultForm(app, adding, webhooksPage, ({ reader, params }, document) => {
    const { name, secret } = document as unknown as RevealedSecret;
    const title = reader.t('{name} was added', { name });
    if (params['format'] !== 'json') return noticeOf(`${title}.`, true);
    const note = '{name} checks signatures with this secret, which is not shown again:';
    return secretPanel(reader, title, reader.t(note, { name }), secret);
  });
  const testing = { context: dashboard, operation: testWebhook };
  addResultForm(app, testing, webhooksPage, ({ reader: { t } }, document) => {
    const { name, delivered, error, status } = document as unknown as EndpointTest;
    const outcome = { name, cause: status ?? error ?? '' };
    return noticeOf(delivered ? t('{name} accepted the test.', outcome) : t(FAILED, outcome), delivered);
  });
}

const FAILED: MessageKey = '{name} has not accepted the test: {cause}. The list of deliveries shows more.';

const noticeOf = (text: string, isGood: boolean): Html =>
  html`<p class="notice ${isGood ? '' : 'bad'}" role="status">${text}</p>`;

type Filters = Readonly<Partial<{ endpoint: string | undefined; before: number | undefined }>>;

async function webhooksPage(dashboard: Dashboard, request: PageRequest<unknown, Filters>) {
  const { user, query, reader } = request;
  const { session } = dashboard;
  const { t } = reader;
  const { before, endpoint } = query;
  const { read, total } = await listDeliveries(session, { endpoint, before, limit: PAGE_ROWS + 1 });
  const endpoints = await listEndpoints(session);
  const page = listPage(read, (delivery) => delivery.id, total);
  const ways = pageLinks(reader, { path: PATH, query: { endpoint, before } }, page);
  const choices = endpoints.map((endpoint) => endpoint.name);
  const content = html`${panel({ id: 'endpoints', title: t('Endpoints'), isLive: true }, endpointTable(endpoints, reader, user?.role))}
  ${canSend(user?.role, PATH) ? addForm(reader) : null}
  ${filterForm(reader, PATH, { name: 'endpoint', label: t('endpoint'), value: endpoint, choices })}
  ${panel({ id: 'deliveries', title: t('Deliveries'), isLive: before === undefined }, html`${deliveryTable(page.rows, reader)} ${ways}`)}`;
  return { title: t('Webhooks'), about: t('Events that are sent to people and to other programs'), content };
}

/** The receivers that most people add; `format` of the operation. */
const RECEIVERS = { slack: 'Slack', teams: 'Teams', email: 'E-mail', json: 'URL' } as const;

function addForm({ t, language }: Translator, { name, format, url }: Typed = {}): Html {
  const attributes = (longest: number) => html`required maxlength="${longest}" autocomplete="off"`;
  const choices = Object.keys(RECEIVERS);
  const labelOf = (receiver: string): string => t(RECEIVERS[receiver as keyof typeof RECEIVERS]);
  const fields = [
    { name: 'name', label: t('name'), value: name, attributes: attributes(64) },
    { name: 'format', label: t('receiver'), value: format, choices, labelOf },
    { name: 'url', label: t('address'), value: url, attributes: attributes(2048) },
  ];
  const sent = { values: { language }, fields, button: t('Add'), isMain: true };
  const note = t('Slack and Teams: the address of an incoming webhook. E-mail: one address.');
  const head = { id: 'add', title: t('Add a receiver'), note, isLive: false };
  return panel(head, formOf({ action: PATH, look: 'filters body', ...sent }));
}

function endpointTable(rows: readonly EndpointWithHealth[], reader: Reader, role?: UserRole): Html {
  const { t, term, count, when } = reader;
  const buttonsOf = (endpoint: EndpointWithHealth): readonly DecisionButton[] => [
    ...endpointButtons(reader, endpoint),
    { label: t('Test'), about: endpoint.name, address: `${PATH}/${endpoint.name}/test` },
  ];
  const waiting = ({ pending, pendingSince, nextAttemptAt }: EndpointWithHealth): Html | null => {
    if (pending === 0) return null;
    const times = html`${pendingSince && html`<p class="small quiet wide">${t('oldest {when}', { when: when(pendingSince) })}</p>`}
    ${nextAttemptAt && html`<p class="small quiet wide">${t('next attempt {when}', { when: when(nextAttemptAt) })}</p>`}`;
    return html`${count(pending)} ${times}`;
  };
  return dataTable(
    { caption: t('Endpoints, by name'), rows, none: t('None.') },
    column(t('endpoint'), '', ({ name, health }) => {
      return html`<span translate="no">${name}</span> ${badge(reader, health)}`;
    }),
    column(t('address'), 'small brief data', (endpoint) => maskedUrl(endpoint, role)),
    column(t('events'), 'small brief', ({ kinds, changes }) => {
      const sorts = changes === null ? t('all changes') : changes.map(term).join(', ');
      return html`${kinds === null ? t('all kinds') : labelledKinds(reader, kinds)}; ${sorts}`;
    }),
    column(t('last delivery'), 'named nowrap early', ({ deliveredAt }) => when(deliveredAt) ?? t('never')),
    column(t('waiting'), 'number named early', waiting),
    countColumn(reader, 'failures in a row', ({ failures }) => failures, 'number wide'),
    canSend(role, `${PATH}/name/enable`)
      ? column(t('decide'), 'decide', (endpoint) => decisionForms(buttonsOf(endpoint), PATH, role))
      : null,
  );
}

const LONGEST_ANSWER = 120;

function deliveryTable(rows: readonly LoggedDelivery[], reader: Reader): Html {
  const { t, when } = reader;
  return dataTable(
    { caption: t('Deliveries, newest first'), rows, none: t('None.') },
    column(t('event'), '', (delivery) => eventName(delivery, reader)),
    column(t('endpoint'), 'named data', ({ endpoint }) => endpoint),
    column(t('record'), '', (delivery) => recordOf(delivery, reader)),
    column(t('state'), 'early', ({ state }) => badge(reader, state)),
    column(t('answer'), 'small brief data', ({ status, error, responseStart }) => {
      const start =
        responseStart && html`<span class="quiet">${ellipsize(responseStart, LONGEST_ANSWER)}</span>`;
      return html`${status ?? error ?? '–'} ${start}`;
    }),
    countColumn(reader, 'attempts', ({ attempts }) => attempts, 'number wide'),
    column(t('planned'), 'nowrap early', ({ createdAt }) => when(createdAt)),
  );
}

/** A change of a record by its state; a notification by its type. */
const eventName = ({ type, kind }: LoggedDelivery, reader: Reader): Html =>
  kind !== null && type.startsWith(`${kind}.`)
    ? html`<span title="${type}">${reader.term(type.slice(kind.length + 1))}</span>`
    : html`<span translate="no">${type}</span>`;

function recordOf({ kind, recordId, seq }: LoggedDelivery, reader: Reader): Html | null {
  if (kind === null) return null;
  if (recordId === null) return html`<a href="/kinds/${kind}">${labelledKind(reader, kind)}</a>`;
  const event =
    seq === null
      ? null
      : html` <a class="small" href="/changes?before=${seq + 1}">${reader.t('event {seq}', { seq })}</a>`;
  return html`${recordLink(reader, kind, recordId)}${event}`;
}
