import * as z from 'zod';
import { isListed } from '../../../catalog/kind.ts';
import { dataTable, html, type Html } from '../../../http/html.ts';
import type { Server } from '../../../http/server.ts';
import { listReports } from '../../reports/run-report.ts';
import { readViewNames } from '../../../views/views.ts';
import { exportLinks } from './export-links.ts';
import { pageTitle, panel } from '../../../dashboard/parts/layout.ts';
import { addPage, filterValue, type Dashboard } from '../../../dashboard/parts/page.ts';
import { filterForm } from '../../../dashboard/parts/paging.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { labelledKind } from '../../../dashboard/parts/values.ts';

const PATH = '/exports';

/** Adds the page from which every kind and every view can be had as a workbook or as CSV. */
export function addExportsPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const querystring = z.object({ view: filterValue });
  const page = { path: PATH, summary: 'Show what can be exported', querystring };
  addPage(app, dashboard, page, async ({ reader, query: { view } }) => {
    const { t } = reader;
    const listed = kinds.filter(isListed).map((kind) => kind.name);
    const ofKinds = new Set(listed.map((name) => `bi_${name}`));
    const views = (await readViewNames(session)).filter((view) => !ofKinds.has(view));
    const shown = views.filter((name) => view === undefined || name === view);
    const title = t('Export');
    const about = t('To correct records: export a kind as a workbook, edit it, upload it under Corrections.');
    const content = html`${pageTitle(title, about)}
    ${panel({ id: 'kinds', title: t('Kinds'), isLive: false }, fileTable(t('Kinds'), listed, reader, labelledKind))}
    ${panel({ id: 'reports', title: t('Reports'), isLive: false }, reportTable(await readViewNames(session), reader))}
    ${filterForm(reader, PATH, [{ name: 'view', label: t('view'), value: view, choices: views }])}
    ${panel({ id: 'views', title: t('Other views'), isLive: false }, fileTable(t('Other views'), shown, reader))}`;
    return { title, content, isStill: true };
  });
}

function reportTable(views: readonly string[], reader: Reader): Html {
  const { t } = reader;
  const day = (name: string, label: string, isTaken: boolean): Html | string =>
    isTaken ? html`<label>${label} <input type="date" name="${name}" /></label>` : '';
  const rows = listReports(views, reader.language).map(
    ({ name, title, question, missing, from, to }) =>
      html`<tr>
        <th scope="row">${title}</th>
        <td>
          ${missing === null ? html`<p class="small quiet brief">${question}</p>` : html`<p class="small quiet brief" lang="en">${missing}</p>`}
          <form class="deciding" action="/v1/reports/${name}">
            ${day('from', t('From'), from)} ${day('to', t('To'), to)}
            <button name="format" value="xlsx">${t('Workbook')}</button>
            <button name="format" value="${reader.language === 'fr' ? 'excel' : 'csv'}">${t('CSV')}</button>
          </form>
        </td>
      </tr>`,
  );
  return dataTable(t('Reports'), reader.tEach('rows of', 'file'), rows, 'cards');
}

function fileTable(
  caption: string,
  names: readonly string[],
  reader: Reader,
  nameOf = (_: Reader, name: string): Html => html`<span translate="no">${name}</span>`,
): Html {
  const rows = names.map(
    (name) =>
      html`<tr>
        <th scope="row">${nameOf(reader, name)}</th>
        <td class="early">${exportLinks(reader, name)}</td>
      </tr>`,
  );
  return dataTable(caption, reader.tEach('rows of', 'file'), rows, 'cards');
}
