import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { capitalize } from '../lib/text/text.ts';
import { isFailedReading, describeOutcome, reportLabel } from '../words/outcome-texts.ts';
import { countRuns, findRun, readTries, type KindReport, type Run } from '../store/runs/run-store.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { badge, countCell, factList, listPanel, emptyNote, pageTitle, panel } from './parts/layout.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { duration, readRuns, runBadge, runTable, tryLink } from './parts/runs.ts';
import { labelledKind, labelledKinds } from './parts/values.ts';
import { rowPath } from '../operations/inputs.ts';

export function addRunPages(app: Server, dashboard: Dashboard): void {
  const { session } = dashboard;
  const listed = { path: '/runs', summary: 'Show runs', querystring: z.object({ before: beforeId }) };
  addPage(app, dashboard, listed, async ({ query, reader }) => {
    const { t } = reader;
    const read = await readRuns(dashboard, { ...query, limit: PAGE_ROWS + 1 });
    const { rows, ...rest } = listPage(read, (run) => run.id, await countRuns(session));
    const list = html`${runTable(rows, reader)} ${pageLinks(reader, '/runs', query, rest)}`;
    const content = html`${pageTitle(t('Runs'), t('All readings of the service, newest first'))}
    ${listPanel('runs', t('Runs'), query.before === undefined, list)}`;
    return { title: t('Runs'), content };
  });
  const shown = { path: '/runs/:id', summary: 'Show one run', params: rowPath };
  addPage(app, dashboard, shown, async ({ params: { id }, reader }) => {
    const { t, term, exactTime } = reader;
    const run = await findRun(session, id);
    if (run === null) throw new SyncError(`Run ${id} does not exist or was removed.`, { code: 'run.absent' });
    const { command, extent, reason, kinds, startedAt, finishedAt, reports } = run;
    const tries = await readTries(session, run);
    const waiting = kinds.filter((kind) => !reports.some((report) => report.kind === kind));
    const facts = factList([
      [t('Began'), startedAt === null ? t('waits for a background service') : exactTime(startedAt)],
      [t('Ended'), finishedAt === null ? null : exactTime(finishedAt)],
      [t('Took'), finishedAt === null ? null : duration(startedAt, finishedAt, reader)],
      [t('Extent'), extent === null ? null : html`<code>${extent}</code>`],
      [t('Tries'), tries.length > 1 ? html`${tries.map((each) => tryLink(each, reader))}` : null],
      [t('Reason'), reason === null ? null : html`<code>${reason}</code>`],
      [t('Without a report'), waiting.length === 0 ? null : labelledKinds(reader, waiting)],
    ]);
    const content = html`${pageTitle(capitalize(`${term(command)} ${id}`), runBadge(reader, run))}
      <div id="run" data-live>
        ${panel({ id: 'run', title: t('Run') }, html`<div class="body">${facts}</div>`)}
        <section class="panel" aria-label="${t('Kinds of the run')}">${reportTable(run, reader)}</section>
      </div>`;
    return { title: t('Run {id}', { id }), content, isStill: finishedAt !== null };
  });
}

const COUNTS = [
  { of: 'rows', text: 'rows' },
  { of: 'created', text: 'rows created' },
  { of: 'updated', text: 'rows updated' },
  { of: 'deleted', text: 'rows deleted' },
  { of: 'restored', text: 'rows restored' },
  { of: 'quarantined', text: 'quarantined' },
] as const;

function reportTable(run: Run & { readonly reports: readonly KindReport[] }, reader: Reader): Html {
  const { t, count, tenths } = reader;
  const { reports } = run;
  if (reports.length === 0) return emptyNote(t('No kind has been read yet.'));
  const rows = reports.map((report) => {
    const { why } = describeOutcome({ ...report, missing: null }, reader);
    const isDetailed = why === null || isFailedReading(report.state) || run.command === 'verify';
    return html`<tr>
      <th scope="row"><a href="/kinds/${report.kind}">${labelledKind(reader, report.kind)}</a></th>
      <td class="parts">
        ${badge(reader, report.state, reportLabel(run, report, reader))}
        <p class="small quiet brief" title="${report.detail}">${why}</p>
        ${isDetailed ? html`<p class="small quiet brief" lang="en">${report.detail}</p>` : null}
      </td>
      ${COUNTS.map(({ of, text }) => countCell(reader, text, report[of]))}
      <td class="number wide">${count(report.requests)}</td>
      <td class="number wide">${tenths(report.durationMs)}</td>
    </tr>`;
  });
  const numbers = [...COUNTS.map(({ text }) => text), 'requests', 'took'] as const;
  const headings = [t('kind'), t('end'), ...numbers.map((number) => ({ number: t(number) }))];
  return dataTable(t('What the run found, kind by kind'), headings, rows, 'cards');
}
