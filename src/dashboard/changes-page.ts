import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { countChanges, eventsOf, readLatestChanges } from '../events/read-changes.ts';
import { pushersOf } from '../store/outbox/outbox-store.ts';
import { changeFilters, checkKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import type { Reader } from './parts/reader.ts';
import { listPanel, emptyNote, pageTitle } from './parts/layout.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import { filterForm, linkTo, listPage, PAGE_ROWS, pageLinks, type Query } from './parts/paging.ts';

export function addChangesPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const querystring = z.object({ ...changeFilters, before: beforeId });
  const page = { path: '/changes', summary: 'Show change events', querystring };
  addPage(app, dashboard, page, async ({ query, reader }) => {
    const { t } = reader;
    const { kind, record, from, to } = query;
    checkKind(kinds, kind);
    const wanted = await eventsOf(session, query, reader.now(), reader.timezone);
    const before = Math.min(wanted.before, query.before ?? wanted.before);
    const read = await readLatestChanges(session, { ...wanted, before, limit: PAGE_ROWS + 1 });
    const total = await countChanges(session, wanted);
    const { rows, ...rest } = listPage(read, (change) => change.seq, total);
    const pushers = await pushersOf(session, rows);
    const byDay = [...Map.groupBy(rows, (change) => reader.day(change.observedAt))].map(
      ([day, changes]) =>
        html`<h2 class="day">${day}</h2>
          ${changeList(changes, reader, pushers)}`,
    );
    const list = html`${rows.length === 0 ? emptyNote(t('None.')) : byDay}
    ${pageLinks(reader, '/changes', query, rest)}`;
    const files = dashboard.fileLinks.map(
      (links) => html` · ${links(reader, 'changes', { kind, record, from, to })}`,
    );
    const content = html`${pageTitle(t('Changes'), html`${t('Newest first')}${files}`)}
    ${dayLinks(reader, { kind, record })}
    ${filterForm(reader, '/changes', [
      {
        name: 'kind',
        label: t('kind'),
        value: kind,
        choices: kinds.map((each) => each.name),
        labelOf: (name) => kindLabel(reader, name),
      },
      { name: 'record', label: t('number of the record'), value: record },
      { name: 'from', label: t('first day'), value: from, isDay: true },
      { name: 'to', label: t('last day'), value: to, isDay: true },
    ])}
    ${listPanel('changes', t('Change events'), query.before === undefined, list)}`;
    return { title: t('Changes'), content };
  });
}

function dayLinks({ t, dayBefore }: Reader, filters: Query): Html {
  const link = (words: string, from: string, to = from): Html =>
    html`<a class="button" href="${linkTo('/changes', { ...filters, from, to })}">${words}</a>`;
  const today = dayBefore(0);
  return html`<nav class="filters" aria-label="${t('Days')}">
    ${link(t('Today'), today)} ${link(t('Yesterday'), dayBefore(1))} ${link(t('7 days'), dayBefore(6), today)}
  </nav>`;
}
