import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { isListed } from '../catalog/kind.ts';
import { html } from '../http/html.ts';
import type { Server } from '../http/server.ts';
import { searchRecords } from '../store/records/find-records.ts';
import { recordsAfter } from '../store/records/record-store.ts';
import { knownKindName, recordIdText, requireKind } from '../operations/inputs.ts';
import { preparingNote, recordTable, searchForm, searched } from './find-page.ts';
import { emptyNote, pageTitle } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import { linkTo, listLinks, PAGE_ROWS } from './parts/paging.ts';

export function addRecordsPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const page = {
    path: '/records/:kind',
    summary: 'Show records of a kind by their ids',
    params: z.strictObject({ kind: knownKindName(kinds) }),
    querystring: z.object({ after: recordIdText.optional(), q: searched }),
  };
  addPage(app, dashboard, page, async ({ params: { kind: name }, query: { after, q = '' }, reader }) => {
    const { t } = reader;
    const kind = requireKind(kinds, name);
    const range = { after, limit: PAGE_ROWS + 1 };
    const { records, isPrepared } =
      q === ''
        ? { records: await recordsAfter(session, kind.name, range), isPrepared: true }
        : await searchRecords(session, kind, { text: q, ...range });
    const shown = records.slice(0, PAGE_ROWS);
    const path = `/records/${encodeURIComponent(kind.name)}`;
    const title = t('Records of {kind}', { kind: kindLabel(reader, kind.name) });
    const first = after === undefined ? null : linkTo(path, { q });
    const next = records.length > PAGE_ROWS ? linkTo(path, { q, after: shown.at(-1)?.id }) : null;
    const about = after === undefined ? t('by id') : t('by id, after {id}', { id: after });
    const standing = html` · <a href="/kinds/${kind.name}">${t('Freshness and reliability')}</a>`;
    const files = dashboard.fileLinks.map((links) => html` · ${links(reader, kind.name)}`);
    const ways = html`${about}${isListed(kind) ? standing : null}${files}`;
    const content = html`${pageTitle(html`<span title="${kind.name}">${title}</span>`, ways)}
      ${searchForm(reader, path, q)}
      <section class="panel" aria-label="${t('Records')}">
        ${isPrepared ? null : preparingNote(reader, [kind.name])}
        ${shown.length > 0 ? await recordTable(dashboard, { kind: kind.name, records: shown, text: q }, reader) : isPrepared ? emptyNote(t('None.')) : null}
        ${listLinks(reader, { words: t('First'), address: first }, { words: t('Next'), address: next })}
      </section>`;
    return { title, part: '/kinds', content, isStill: true };
  });
}
