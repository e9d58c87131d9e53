import { panel } from '../../dashboard/parts/layout.ts';
import type { FilePanel } from '../../dashboard/parts/page.ts';
import { dataTable, html, type Html } from '../../http/html.ts';
import { listReports } from './run-report.ts';

/** The reports as files. */
export const reportPanel: FilePanel = (views, reader) => {
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
  const table = dataTable(t('Reports'), reader.tEach('rows of', 'file'), rows, 'cards');
  return panel({ id: 'reports', title: t('Reports'), isLive: false }, table);
};
