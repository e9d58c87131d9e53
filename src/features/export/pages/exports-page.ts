import * as z from 'zod';
import { isListed } from '../../../catalog/kind.ts';
import { html, type Html } from '../../../http/html.ts';
import { readViewNames } from '../../../views/views.ts';
import { exportLinks } from './export-links.ts';
import { filterForm } from '../../../dashboard/parts/forms.ts';
import { column, foldedTable, panel } from '../../../dashboard/parts/layout.ts';
import { pageAt, type AddPage, type FilePanel } from '../../../dashboard/parts/page.ts';
import { filterValue } from '../../../operations/inputs.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { labelledKind } from '../../../dashboard/parts/values.ts';

const PATH = '/exports';
const FILES_OPEN = 10;

const querystring = z.object({ view: filterValue });
const route = { path: PATH, summary: 'Show what can be exported', querystring };

/** Makes the page from which every kind and every view can be had as a workbook or as CSV. @param panels Those of other features. */
export const exportsPage = (panels: readonly FilePanel[]): AddPage =>
  pageAt(route, async ({ session, kinds }, { reader, query: { view } }) => {
    const { t } = reader;
    const listed = kinds.filter(isListed).map((kind) => kind.name);
    const ofKinds = new Set(listed.map((name) => `bi_${name}`));
    const all = await readViewNames(session);
    const views = all.filter((view) => !ofKinds.has(view));
    const shown = views.filter((name) => view === undefined || name === view);
    const content = html`${panel({ id: 'kinds', title: t('Kinds'), isLive: false }, fileTable(t('Kinds'), listed, reader, labelledKind))}
    ${panels.map((show) => show(all, reader))}
    ${filterForm(reader, PATH, { name: 'view', label: t('view'), value: view, choices: views })}
    ${panel({ id: 'views', title: t('Other views'), isLive: false }, fileTable(t('Other views'), shown, reader))}`;
    const about = 'To correct records: export a kind as a workbook, edit it, upload it under Corrections.';
    return { title: t('Export'), about: t(about), content, isStill: true };
  });

const fileTable = (
  caption: string,
  rows: readonly string[],
  reader: Reader,
  nameOf = (_: Reader, name: string): Html => html`<span translate="no">${name}</span>`,
): Html =>
  foldedTable(
    reader,
    { open: FILES_OPEN, caption, rows },
    column(reader.t('rows of'), '', (name) => nameOf(reader, name)),
    column(reader.t('file'), 'early', (name) => exportLinks(reader, name)),
  );
