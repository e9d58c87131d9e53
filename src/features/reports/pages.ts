import { Big } from 'big.js';
import * as z from 'zod';
import { formOf, type FormField } from '../../dashboard/parts/forms.ts';
import { markEnglish } from '../../dashboard/parts/english.ts';
import {
  column,
  dataTable,
  foldedTable,
  itemList,
  listPanel,
  note,
  panel,
} from '../../dashboard/parts/layout.ts';
import { pageAt, type FilePanel } from '../../dashboard/parts/page.ts';
import { filterValue } from '../../operations/inputs.ts';
import type { Reader } from '../../dashboard/parts/reader.ts';
import { dayText, placesOf } from '../../dashboard/parts/values.ts';
import { focusable, html, type Html, type Part } from '../../http/html.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import { readViewNames } from '../../views/views.ts';
import { findReport } from './read-reports.ts';
import { amountOf } from './report.ts';
import { tableForPeople } from './report-source.ts';
import { apart, listReports, notesOf, runReport, type ReportAnswer } from './run-report.ts';

/** The reports, each with its page. */
export const reportPanel: FilePanel = (views, reader) => {
  const { t } = reader;
  const table = foldedTable(
    reader,
    { open: 10, caption: t('Reports'), rows: listReports(views, reader.language) },
    column(t('rows of'), '', ({ name, title, missing }) =>
      missing === null ? html`<a href="/reports/${name}">${title}</a>` : title,
    ),
    column(t('question'), '', ({ question, missing }) => {
      return note(missing === null ? question : markEnglish(reader, missing));
    }),
  );
  return panel({ id: 'reports', title: t('Reports'), isLive: false }, table);
};

const route = {
  path: '/reports/:name',
  summary: 'Show a ready report',
  params: z.strictObject({ name: z.string().max(100) }),
  querystring: z.object({ from: filterValue, to: filterValue }),
};

/** Adds the page of a report: what must be known of its figures, their plot, and the figures with their totals. */
export const addReportPage = pageAt(route, async ({ session }, { params: { name }, query, reader }) => {
  const request = { name, ...query, language: reader.language };
  const answer = await runReport(session, await readViewNames(session), request);
  const { title, question, partial, remarks } = answer;
  const { t } = reader;
  const groups = partial.map((group) => cellText(reader, group)).join(', ');
  const parts = partial.length === 0 ? [] : [t('In part: {groups}.', { groups })];
  const known = [...parts, ...remarks].map((remark) => html`<li>${remark}</li>`);
  const report = findReport(name);
  const notes = report === undefined ? [] : notesOf(report, reader.language);
  const noted = itemList(notes.map((note) => html`<li>${note.split('`').map(codeEachSecond)}</li>`));
  const content = html`${listPanel('days', t('Days'), false, daysForm(answer, reader))}
  ${known.length === 0 ? null : listPanel('remarks', t('Remarks'), false, itemList(known))}
  ${bars(answer, reader)} ${listPanel('figures', title, false, figures(answer, reader))}
  ${panel({ id: 'notes', title: t('Notes'), isLive: false }, noted)}`;
  return { title, about: question, part: '/exports', content, isStill: true };
});

const codeEachSecond = (part: string, at: number): Part => (at % 2 === 0 ? part : html`<code>${part}</code>`);

/** The days that the report takes, and its files of the same days. */
function daysForm({ name, from, to }: ReportAnswer, { t, language }: Reader): Html {
  const report = findReport(name);
  const day = (field: string, label: string, value: string | null): FormField => {
    return { name: field, label, value: value ?? '', type: 'date' };
  };
  const fields = [
    ...(report?.from ? [day('from', t('From'), from)] : []),
    ...(report?.to ? [day('to', t('To'), to)] : []),
  ];
  const file = html`formaction="/v1/reports/${name}" name="format"`;
  const button = html`${report?.to ? html`<button>${t('Show')}</button>` : null}
    <button ${file} value="xlsx">${t('Workbook')}</button>
    <button ${file} value="${language === 'fr' ? 'excel' : 'csv'}">${t('CSV')}</button>`;
  return formOf({ action: `/reports/${name}`, method: 'get', look: 'filters body', fields, button });
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
  const names = by.map((column, at) => html`${at === 0 ? '' : ', '}${labelOf(reader, column)}`);
  const table = dataTable(
    { caption: title, rows: shown.map(([, ofGroup], at): Line => [nameOf(ofGroup), at]) },
    { ...column('', '', ([group]: Line) => group), heading: names },
    ...series.map(({ label, column: figure, sums, largest }) => ({
      heading: labelOf(reader, label),
      ...column(reader.term(label), 'named', ([group, at]: Line) => {
        const sum = sums[at] ?? new Big(0);
        const text = figure.endsWith('_e4') ? amountText(reader, amountOf(sum)) : reader.count(Number(sum));
        return html`<meter
            max="${largest}"
            value="${Math.max(0, Number(sum))}"
            aria-label="${group}, ${reader.term(label)}"
          ></meter>
          ${text}`;
      }),
    })),
  );
  return panel({ id: 'plot', title: html`${markEnglish(reader, caption)}`, isLive: false }, table);
}

type Line = readonly [group: string, at: number];

const ROWS_SHOWN = 200;
const ROWS_OPEN = 15;

/** The totals of all rows, and the first rows, of times the latest. */
function figures(answer: ReportAnswer, reader: Reader): Html {
  const { t, term } = reader;
  const { columns, rows } = tableForPeople(answer);
  const report = findReport(answer.name);
  const ordered = report?.plot.isTime === true ? rows.toReversed() : rows;
  const same = report && answer.totals.length === 1 ? apart(report) : []; // Of one total, those of every row.
  const sums = answer.totals.map((total) => {
    const sumOf = (column: string) => total[`${column}_exact`] ?? total[column] ?? null;
    const rest = columns.slice(1).map((column) => (same.includes(column) ? null : sumOf(column)));
    return [t('Total'), ...rest];
  });
  const table = foldedTable<Row>(
    reader,
    { open: ROWS_OPEN, caption: answer.title, rows: [...sums, ...ordered.slice(0, ROWS_SHOWN)] },
    ...columns.map((name, at) => {
      const areNumbers = rows.every((row) => NUMBER.test(row[at] ?? '0'));
      const isAmount = at > 0 && !answer.columns.includes(name);
      const shown = (row: Row): Part => {
        const text = row[at] ?? '';
        return text === '' ? null : isAmount ? amountText(reader, text) : cellText(reader, text);
      };
      const named = column(term(name.replaceAll('_', ' ')), areNumbers ? 'number named' : 'named', shown);
      return { ...named, heading: labelOf(reader, name) };
    }),
  );
  const part = { shown: ROWS_SHOWN, all: rows.length };
  return html`${rows.length > ROWS_SHOWN ? html`<p class="body quiet">${t('the first {shown, number} of {all, number}', part)}</p>` : null}
    <div class="scroll" ${focusable(answer.title)}>${table}</div>`;
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
