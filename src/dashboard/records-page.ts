import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { isListed } from '../catalog/kind.ts';
import { html } from '../http/html.ts';
import { emptyNote } from './parts/layout.ts';
import { searchRecords } from '../store/records/find-records.ts';
import { recordsAfter } from '../store/records/record-store.ts';
import { knownKindName, recordIdText, requireKind } from '../operations/inputs.ts';
import { preparingNote, recordTable, searchForm, searched } from './find-page.ts';
import { pageAt, type Dashboard } from './parts/page.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';

const routeOf = ({ kinds }: Dashboard) => ({
  path: '/records/:kind',
  summary: 'Show records of a kind by their ids',
  params: z.strictObject({ kind: knownKindName(kinds) }),
  querystring: z.object({ after: recordIdText.optional(), q: searched }),
});

export const addRecordsPage = pageAt(routeOf, async (dashboard, { params, query, reader }) => {
  const { session, kinds } = dashboard;
  const { after, q = '' } = query;
  const { t } = reader;
  const kind = requireKind(kinds, params.kind);
  const range = { after, limit: PAGE_ROWS + 1 };
  const { records, isPrepared } =
    q === ''
      ? { records: await recordsAfter(session, kind.name, range), isPrepared: true }
      : await searchRecords(session, kind, { text: q, ...range });
  const { rows, ...place } = listPage(records, (record) => record.id);
  const path = `/records/${encodeURIComponent(kind.name)}`;
  const title = t('Records of {kind}', { kind: kindLabel(reader, kind.name) });
  const order = after === undefined ? t('by id') : t('by id, after {id}', { id: after });
  const standing = html` · <a href="/kinds/${kind.name}">${t('Freshness and reliability')}</a>`;
  const files = dashboard.fileLinks.map((links) => html` · ${links(reader, kind.name)}`);
  const about = html`${order}${isListed(kind) ? standing : null}${files}`;
  const content = html`${searchForm(reader, path, q)}
    <section class="panel" aria-label="${t('Records')}">
      ${isPrepared ? null : preparingNote(reader, [kind.name])}
      ${rows.length > 0 ? await recordTable(dashboard, { kind: kind.name, rows, text: q }, reader) : isPrepared ? emptyNote(t('None.')) : null}
      ${pageLinks(reader, { path, query: { q: q || undefined, after }, by: 'after' }, place)}
    </section>`;
  const heading = html`<span title="${kind.name}">${title}</span>`;
  return { title, heading, about, part: '/kinds', content, isStill: true };
});
