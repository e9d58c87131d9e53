import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { countChanges, readLatestChanges } from '../events/read-changes.ts';
import { pushersOf } from '../store/outbox/outbox-store.ts';
import { checkKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { html } from '../http/html.ts';
import { listPanel, emptyNote, pageTitle } from './parts/layout.ts';
import { addPage, beforeId, filterValue, type Dashboard } from './parts/page.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';

export function addChangesPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const names = kinds.map((kind) => kind.name);
  const querystring = z.object({ kind: filterValue, record: filterValue, before: beforeId });
  const page = { path: '/changes', summary: 'Show change events', querystring };
  addPage(app, dashboard, page, async ({ query, reader }) => {
    const { t } = reader;
    const { kind, record } = query;
    checkKind(kinds, kind);
    const read = await readLatestChanges(session, { ...query, recordId: record, limit: PAGE_ROWS + 1 });
    const total = await countChanges(session, { kind, recordId: record });
    const { rows, ...rest } = listPage(read, (change) => change.seq, total);
    const about =
      kind === undefined
        ? t('All kinds, newest first')
        : t('{what}, newest first', {
            what: `${kindLabel(reader, kind, record === undefined ? 'many' : 'one')} ${record ?? ''}`.trim(),
          });
    const pushers = await pushersOf(session, rows);
    const list = html`${rows.length === 0 ? emptyNote(t('None.')) : changeList(rows, reader, pushers)}
    ${pageLinks(reader, '/changes', query, rest)}`;
    const content = html`${pageTitle(t('Changes'), about)}
    ${filterForm(reader, '/changes', [
      {
        name: 'kind',
        label: t('kind'),
        value: kind,
        choices: names,
        labelOf: (name) => kindLabel(reader, name),
      },
      { name: 'record', label: t('record (with its kind)'), value: record },
    ])}
    ${listPanel('changes', t('Change events'), query.before === undefined, list)}`;
    return { title: t('Changes'), content };
  });
}
