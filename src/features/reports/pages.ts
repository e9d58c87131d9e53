import { Big } from 'big.js';
import * as z from 'zod';
import { formField } from '../../dashboard/parts/paging.ts';
import { itemList, listPanel, markEnglish, pageTitle, panel } from '../../dashboard/parts/layout.ts';
import { addPage, type AddPage, type FilePanel } from '../../dashboard/parts/page.ts';
import { filterValue } from '../../operations/inputs.ts';
import type { Reader } from '../../dashboard/parts/reader.ts';
import { dayText, placesOf } from '../../dashboard/parts/values.ts';
import { dataTable, focusable, html, type Html, type Part } from '../../http/html.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import { readViewNames } from '../../views/views.ts';
import { findReport } from './read-reports.ts';
import { amountOf } from './report.ts';
import { tableForPeople } from './report-source.ts';
import { apart, listReports, runReport, type ReportAnswer } from './run-report.ts';

/** The reports, each with its page. */
export const reportPanel: FilePanel = (views, reader) => {
  const { t } = reader;
  const rows = listReports(views, reader.language).map(({ name, title, question, missing }) =>
    missing === null
      ? html`<tr>
          <th scope="row"><a href="/reports/${name}">${title}</a></th>
          <td><p class="small quiet brief">${question}</p></td>
        </tr>`
      : html`<tr>
          <th scope="row">${title}</th>
          <td><p class="small quiet brief">${markEnglish(reader, missing)}</p></td>
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
    const { title, question, partial, remarks, notes } = answer;
    const { t } = reader;
    const parts =
      partial.length === 0
        ? []
        : [t('In part: {groups}.', { groups: partial.map((group) => cellText(reader, group)).join(', ') })];
    const known = [...parts, ...remarks].map((remark) => html`<li>${remark}</li>`);
    const noted = itemList(notes.map((note) => html`<li>${note}</li>`));
    const content = html`${pageTitle(title, question)}
    ${listPanel('days', t('Days'), false, daysForm(answer, reader))}
    ${known.length === 0 ? null : listPanel('remarks', t('Remarks'), false, itemList(known))}
    ${bars(answer, reader)} ${listPanel('figures', title, false, figures(answer, reader))}
    ${panel({ id: 'notes', title: t('Notes'), isLive: false }, noted)}`;
    return { title, part: '/exports', content, isStill: true };
  });
};

/** The days that the report takes, and its files of the same days. */
function daysForm({ name, from, to }: ReportAnswer, { t, language }: Reader): Html {
  const day = (field: string, label: string, value: string | null): Html =>
    formField({ name: field, label, value: value ?? '', isDay: true }, '');
  const file = `/v1/reports/${name}`;
  const report = findReport(name);
  return html`<form class="filters body" action="/reports/${name}">
    ${report?.from ? day('from', t('From'), from) : null} ${report?.to ? day('to', t('To'), to) : null}
    ${report?.to ? html`<button>${t('Show')}</button>` : null}
    <button formaction="${file}" name="format" value="xlsx">${t('Workbook')}</button>
    <button formaction="${file}" name="format" value="${language === 'fr' ? 'excel' : 'csv'}">
      ${t('CSV')}
    </button>
  </form>`;
}

/** Its plotted figures over the last times, or of the first names; none where they would add up what has no total. */
function bars({ name, title, columns, rows, totals }: ReportAnswer, reader: Reader): Html | null {
  const report = findReport(name);
  if (report === undefined || rows.length === 0 || totals.length !== 1) return null;
  const { plot, time } = report;
  const { by, isTime, most, caption } = plot;
  const cell = (row: Row, column: string): string => row[columns.indexOf(column)] ?? '';
  const groups = [...Map.groupBy(rows, (row) => by.map((column) => cell(row, column)).join(' '))];
  const timed = groups
    .filter(([, [row = []]]) => /^\d/.test(cell(row, time ?? '')))
    .sort(([a], [b]) => (a < b ? 1 : -1));
  const shown = (isTime ? timed : groups).slice(0, most);
  const nameOf = ([row = []]: readonly Row[]): string =>
    by.map((column) => cellText(reader, cell(row, column))).join(' ');
  const series = Object.entries(plot.series).map(([label, column]) => {
    const sums = shown.map(([, ofGroup]) =>
      ofGroup.reduce((sum, row) => sum.plus(cell(row, column) || 0), new Big(0)),
    );
    return { label, column, sums, largest: Math.max(1, ...sums.map(Number)) };
  });
  const lines = shown.map(
    ([, ofGroup], at) =>
      html`<tr>
        <th scope="row">${nameOf(ofGroup)}</th>
        ${series.map(({ label, column, sums, largest }) => {
          const sum = sums[at] ?? new Big(0);
          const text = column.endsWith('_e4') ? amountText(reader, amountOf(sum)) : reader.count(Number(sum));
          return html`<td data-title="${reader.term(label)}">
            <meter
              max="${largest}"
              value="${Math.max(0, Number(sum))}"
              aria-label="${nameOf(ofGroup)}, ${reader.term(label)}"
            ></meter>
            ${text}
          </td>`;
        })}
      </tr>`,
  );
  const names = by.map((column, at) => html`${at === 0 ? '' : ', '}${labelOf(reader, column)}`);
  const headings = [html`${names}`, ...series.map(({ label }) => html`${labelOf(reader, label)}`)];
  return panel(
    { id: 'plot', title: html`${markEnglish(reader, caption)}`, isLive: false },
    dataTable(title, headings, lines, 'cards'),
  );
}

const ROWS_SHOWN = 200;

/** The totals of all rows, and the first rows, of times the latest. */
function figures(answer: ReportAnswer, reader: Reader): Html {
  const { t, term } = reader;
  const { columns, rows } = tableForPeople(answer);
  const isAmount = (column: string): boolean => !answer.columns.includes(column);
  const areNumbers = columns.map((_column, at) => rows.every((row) => NUMBER.test(row[at] ?? '0')));
  const headings = columns.map((column, at) => {
    const heading = html`${labelOf(reader, column)}`;
    return areNumbers[at] === true ? { number: heading } : heading;
  });
  const cells = (row: Row): readonly Html[] =>
    columns.map((column, at) => {
      const text = row[at] ?? '';
      const shown = isAmount(column) && text !== '' ? amountText(reader, text) : cellText(reader, text);
      return html`<td
        class="${areNumbers[at] === true ? 'number' : ''} ${text === '' ? 'blank' : ''}"
        data-title="${term(column.replaceAll('_', ' '))}"
      >
        ${shown}
      </td>`;
    });
  const report = findReport(answer.name);
  const ordered = report?.plot.isTime === true ? rows.toReversed() : rows;
  const lines = ordered.slice(0, ROWS_SHOWN).map(
    (row) =>
      html`<tr>
        ${cells(row)}
      </tr>`,
  );
  const same = report && answer.totals.length === 1 ? apart(report) : []; // Of one total, those of every row.
  const sums = answer.totals.map((total) => {
    const sumOf = (column: string) =>
      same.includes(column) ? '' : (total[`${column}_exact`] ?? total[column] ?? null);
    const [, ...rest] = cells(columns.map(sumOf));
    return html`<tr>
      <th scope="row">${t('Total')}</th>
      ${rest}
    </tr>`;
  });
  const part = { shown: ROWS_SHOWN, all: rows.length };
  return html`${rows.length > ROWS_SHOWN ? html`<p class="body quiet">${t('the first {shown, number} of {all, number}', part)}</p>` : null}
    <div class="scroll" ${focusable(answer.title)}>
      ${dataTable(answer.title, headings, [...sums, ...lines], 'cards')}
    </div>`;
}

type Row = ReportAnswer['rows'][number];

const labelOf = (reader: Reader, column: string): Part => markEnglish(reader, column.replaceAll('_', ' '));

/** A day in the language of the page; anything else as it is. */
const cellText = (reader: Reader, text: string): string =>
  isCalendarDate(text) ? dayText(reader, text) : text;

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** An amount as people write it: of its four decimals the last two only where they matter. */
const amountText = ({ decimal }: Reader, text: string): string =>
  decimal(new Big(text).toFixed(Math.max(2, placesOf(text))));
