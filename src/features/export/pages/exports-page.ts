import * as z from 'zod';
import { isListed } from '../../../catalog/kind.ts';
import { dataTable, html, type Html } from '../../../http/html.ts';
import { readViewNames } from '../../../views/views.ts';
import { exportLinks } from './export-links.ts';
import { pageTitle, panel } from '../../../dashboard/parts/layout.ts';
import { addPage, type AddPage, type FilePanel } from '../../../dashboard/parts/page.ts';
import { filterForm } from '../../../dashboard/parts/paging.ts';
import { filterValue } from '../../../operations/inputs.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { labelledKind } from '../../../dashboard/parts/values.ts';

const PATH = '/exports';

/** Makes the page from which every kind and every view can be had as a workbook or as CSV. @param panels Those of other features. */
export const exportsPage =
  (panels: readonly FilePanel[]): AddPage =>
  (app, dashboard) => {
    const { session, kinds } = dashboard;
    const querystring = z.object({ view: filterValue });
    const page = { path: PATH, summary: 'Show what can be exported', querystring };
    addPage(app, dashboard, page, async ({ reader, query: { view } }) => {
      const { t } = reader;
      const listed = kinds.filter(isListed).map((kind) => kind.name);
      const ofKinds = new Set(listed.map((name) => `bi_${name}`));
      const all = await readViewNames(session);
      const views = all.filter((view) => !ofKinds.has(view));
      const shown = views.filter((name) => view === undefined || name === view);
      const title = t('Export');
      const about = t(
        'To correct records: export a kind as a workbook, edit it, upload it under Corrections.',
      );
      const content = html`${pageTitle(title, about)}
      ${panel({ id: 'kinds', title: t('Kinds'), isLive: false }, fileTable(t('Kinds'), listed, reader, labelledKind))}
      ${panels.map((show) => show(all, reader))}
      ${filterForm(reader, PATH, [{ name: 'view', label: t('view'), value: view, choices: views }])}
      ${panel({ id: 'views', title: t('Other views'), isLive: false }, fileTable(t('Other views'), shown, reader))}`;
      return { title, content, isStill: true };
    });
  };

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
