import * as z from 'zod';
import { formField } from '../../dashboard/parts/paging.ts';
import { itemList, listPanel, markEnglish, pageTitle, panel } from '../../dashboard/parts/layout.ts';
import { addPage, filterValue, type AddPage, type FilePanel } from '../../dashboard/parts/page.ts';
import { plotCanvas } from '../../dashboard/parts/drawings.ts';
import type { Reader } from '../../dashboard/parts/reader.ts';
import { dataTable, focusable, html, type Html } from '../../http/html.ts';
import { readViewNames } from '../../views/views.ts';
import { REPORTS } from './read-reports.ts';
import { listReports, runReport, type ReportAnswer } from './run-report.ts';

/** The reports, each with its page. */
export const reportPanel: FilePanel = (views, reader) => {
  const { t } = reader;
  const rows = listReports(views, reader.language).map(({ name, title, question, missing }) =>
    missing === null
      ? html`<tr>
          <th scope="row"><a href="/reports/${name}">${title}</a></th>
          <td>${question}</td>
        </tr>`
      : html`<tr>
          <th scope="row">${title}</th>
          <td lang="en">${missing}</td>
        </tr>`,
  );
  const table = dataTable(t('Reports'), reader.tEach('rows of', 'question'), rows, 'cards');
  return panel({ id: 'reports', title: t('Reports'), isLive: false }, table);
};

/** Adds the page of a report: what must be known of its figures, their plot, and the figures with their totals. */
export const addReportPage: AddPage = (app, dashboard) => {
  const page = {
    path: '/reports/:name',
    summary: 'Show a ready report',
    params: z.strictObject({ name: z.string().max(100) }),
    querystring: z.object({ from: filterValue, to: filterValue }),
  };
  addPage(app, dashboard, page, async ({ params: { name }, query, reader }) => {
    const { session } = dashboard;
    const request = { name, ...query, language: reader.language };
    const answer = await runReport(session, await readViewNames(session), request);
    const { title, question, remarks, notes } = answer;
    const { t } = reader;
    const remarked = itemList(remarks.map((remark) => html`<li>${remark}</li>`));
    const noted = itemList(notes.map((note) => html`<li lang="en">${note}</li>`));
    const content = html`${pageTitle(title, question)}
    ${listPanel('days', t('Days'), false, daysForm(answer, reader))}
    ${remarks.length === 0 ? null : listPanel('remarks', t('Remarks'), false, remarked)}
    ${listPanel('figures', title, false, html`${plotOf(answer)} ${figures(answer, reader)}`)}
    ${panel({ id: 'notes', title: t('Notes'), isLive: false }, noted)}`;
    return { title, part: '/exports', content, isStill: true, hasPlots: true };
  });
};

const reportOf = (name: string) => REPORTS.find((report) => report.name === name);

/** The days that the report takes, and its files of the same days. */
function daysForm({ name, from, to }: ReportAnswer, { t, language }: Reader): Html {
  const day = (field: string, label: string, value: string | null): Html =>
    formField({ name: field, label, value: value ?? '', isDay: true }, '');
  const file = `/v1/reports/${name}`;
  const report = reportOf(name);
  return html`<form class="filters body" action="/reports/${name}">
    ${report?.from ? day('from', t('From'), from) : null} ${report?.to ? day('to', t('To'), to) : null}
    ${report?.to ? html`<button>${t('Show')}</button>` : null}
    <button formaction="${file}" name="format" value="xlsx">${t('Workbook')}</button>
    <button formaction="${file}" name="format" value="${language === 'fr' ? 'excel' : 'csv'}">
      ${t('CSV')}
    </button>
  </form>`;
}

/** The first figure of its plot over its last times; none where it would add up what has no total: companies, currencies, statuses. */
function plotOf({ name, columns, rows, totals }: ReportAnswer): Html | null {
  const { time = null, plot } = reportOf(name) ?? {};
  const [[unit, column] = ['', '']] = Object.entries(plot?.series ?? {});
  if (plot?.isTime !== true || totals.length !== 1) return null;
  const [timeAt, valueAt] = [columns.indexOf(time ?? ''), columns.indexOf(column)];
  const values = rows.map((row) => ({ at: startOf(row[timeAt] ?? ''), value: Number(row[valueAt]) }));
  const timed = Map.groupBy(values, ({ at }) => at);
  timed.delete(NaN); // Rows without a time.
  const last = [...timed].sort(([one], [other]) => one - other).slice(-plot.most);
  const points = last.map(([at, ofTime]) => {
    const sum = ofTime.reduce((all, { value }) => all + value, 0);
    return { at: new Date(at), value: column.endsWith('_e4') ? sum / 10_000 : sum };
  });
  return html`<figure class="plot">${plotCanvas({ unit, points, shape: 'steps' }, 'UTC')}</figure>`;
}

/** The first instant of `2026-03-31`, `2026-03` or `2026-Q1`; not a number for a group without a time. */
const startOf = (group: string): number =>
  Date.parse(
    group.replace(/-Q(\d)$/, (_quarter, n: string) => `-${String(3 * Number(n) - 2).padStart(2, '0')}`),
  );

const ROWS_SHOWN = 200;

/** The totals of all rows, and the first rows, of times the latest. */
function figures({ name, title, columns, rows, totals }: ReportAnswer, reader: Reader): Html {
  const { t, decimal } = reader;
  const shown = columns.filter((column) => !column.endsWith('_e4'));
  const isNumber = (column: string): boolean =>
    rows.every((row) => NUMBER.test(row[columns.indexOf(column)] ?? '0'));
  const headings = shown.map((column) => {
    const label = html`${markEnglish(reader, column.replace(/_exact$/, '').replaceAll('_', ' '))}`;
    return isNumber(column) ? { number: label } : label;
  });
  const cell = (column: string, value: string | null | undefined): Html => {
    const text = column.endsWith('_exact') ? decimal((value ?? '').replace(ZEROS, '$1')) : (value ?? '');
    return html`<td class="${isNumber(column) ? 'number' : ''}">${text}</td>`;
  };
  const ordered = reportOf(name)?.plot.isTime === true ? rows.toReversed() : rows;
  const lines = ordered.slice(0, ROWS_SHOWN).map(
    (row) =>
      html`<tr>
        ${shown.map((column) => cell(column, row[columns.indexOf(column)]))}
      </tr>`,
  );
  const sums = totals.map(
    (total) =>
      html`<tr class="total">
        ${shown.map((column, at) => (at === 0 ? html`<th scope="row">${t('Total')}</th>` : cell(column, total[column])))}
      </tr>`,
  );
  const part = { shown: ROWS_SHOWN, all: rows.length };
  return html`${rows.length > ROWS_SHOWN ? html`<p class="body quiet">${t('the first {shown, number} of {all, number}', part)}</p>` : null}
    <div class="scroll" ${focusable(title)}>${dataTable(title, headings, [...sums, ...lines])}</div>`;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The zeros that do not matter: amounts have four decimals, of which two are written. */
const ZEROS = /(\.\d\d(?:\d*[1-9])?)0+$/;
