import * as z from 'zod';
import { countChanges, eventsOf, readLatestChanges } from '../events/read-changes.ts';
import { pushersOf } from '../store/outbox/outbox-store.ts';
import { changeFilters, checkKind } from '../operations/inputs.ts';
import { changeList } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import { emptyNote } from './parts/layout.ts';
import type { Reader } from './parts/reader.ts';
import { filterForm, kindChoice } from './parts/forms.ts';
import { beforeId, pageAt } from './parts/page.ts';
import { linkTo, listPage, PAGE_ROWS, pagedPanel, type Query } from './parts/paging.ts';

const PATH = '/changes';

const querystring = z.object({ ...changeFilters, before: beforeId });
const route = { path: PATH, summary: 'Show change events', querystring };

export const addChangesPage = pageAt(route, async ({ session, kinds, fileLinks }, { query, reader }) => {
  const { t } = reader;
  const { kind, record, from, to } = query;
  checkKind(kinds, kind);
  const wanted = await eventsOf(session, query, reader.now(), reader.timezone);
  const before = Math.min(wanted.before, query.before ?? wanted.before);
  const read = await readLatestChanges(session, { ...wanted, before, limit: PAGE_ROWS + 1 });
  const page = listPage(read, (change) => change.seq, await countChanges(session, wanted));
  const pushers = await pushersOf(session, page.rows);
  const byDay = [...Map.groupBy(page.rows, (change) => reader.day(change.observedAt))].map(
    ([day, changes]) =>
      html`<h2 class="day">${day}</h2>
        ${changeList(changes, reader, pushers)}`,
  );
  const list = { id: 'changes', title: t('Change events'), path: PATH, query };
  const files = fileLinks.map((links) => html` · ${links(reader, 'changes', { kind, record, from, to })}`);
  const content = html`${dayLinks(reader, { kind, record })}
  ${filterForm(
    reader,
    PATH,
    kindChoice(reader, kinds, kind),
    {
      name: 'record',
      label: t('number of the record'),
      value: record,
      attributes: html`inputmode="numeric"`,
    },
    { name: 'from', label: t('first day'), value: from, type: 'date' },
    { name: 'to', label: t('last day'), value: to, type: 'date' },
  )}
  ${pagedPanel(reader, list, page, byDay.length === 0 ? emptyNote(t('None.')) : byDay)}`;
  return { title: t('Changes'), about: html`${t('Newest first')}${files}`, content };
});

function dayLinks({ t, dayBefore }: Reader, filters: Query): Html {
  const link = (words: string, from: string, to = from): Html =>
    html`<a class="button" href="${linkTo(PATH, { ...filters, from, to })}">${words}</a>`;
  const today = dayBefore(0);
  return html`<nav class="filters" aria-label="${t('Days')}">
    ${link(t('Today'), today)} ${link(t('Yesterday'), dayBefore(1))} ${link(t('7 days'), dayBefore(6), today)}
  </nav>`;
}
