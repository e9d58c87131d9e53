import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { capitalize } from '../lib/text/text.ts';
import { isFailedReading, describeOutcome, reportLabel } from '../words/outcome-texts.ts';
import { countRuns, findRun, readTries, type KindReport, type Run } from '../store/runs/run-store.ts';
import { html, type Html } from '../http/html.ts';
import { badge, column, countColumn, dataTable, factList, panel } from './parts/layout.ts';
import { beforeId, pageAt } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pagedPanel } from './parts/paging.ts';
import { duration, readRuns, runBadge, runTable, tryLink } from './parts/runs.ts';
import { labelledKind, labelledKinds } from './parts/values.ts';
import { rowPath } from '../operations/inputs.ts';

const listed = { path: '/runs', summary: 'Show runs', querystring: z.object({ before: beforeId }) };

export const addRunsPage = pageAt(listed, async (dashboard, { query, reader }) => {
  const { t } = reader;
  const read = await readRuns(dashboard, { ...query, limit: PAGE_ROWS + 1 });
  const page = listPage(read, (run) => run.id, await countRuns(dashboard.session));
  const list = { id: 'runs', title: t('Runs'), path: '/runs', query };
  const content = pagedPanel(reader, list, page, runTable(page.rows, reader));
  return { title: t('Runs'), about: t('All readings of the service, newest first'), content };
});

const shown = { path: '/runs/:id', summary: 'Show one run', params: rowPath };

export const addRunPage = pageAt(shown, async ({ session }, { params: { id }, reader }) => {
  const { t, term, exactTime } = reader;
  const run = await findRun(session, id);
  if (run === null) throw new SyncError(`Run ${id} does not exist or was removed.`, { code: 'run.absent' });
  const { command, extent, reason, kinds, startedAt, finishedAt, reports } = run;
  const tries = await readTries(session, run);
  const waiting = kinds.filter((kind) => !reports.some((report) => report.kind === kind));
  const facts = factList([
    [t('Began'), exactTime(startedAt) ?? t('waits for a background service')],
    [t('Ended'), exactTime(finishedAt)],
    [t('Took'), finishedAt === null ? null : duration(startedAt, finishedAt, reader)],
    [t('Extent'), extent && html`<code>${extent}</code>`],
    [t('Tries'), tries.length > 1 ? html`${tries.map((each) => tryLink(each, reader))}` : null],
    [t('Reason'), reason && html`<code>${reason}</code>`],
    [t('Without a report'), waiting.length === 0 ? null : labelledKinds(reader, waiting)],
  ]);
  const content = html`<div id="run" data-live>
    ${panel({ id: 'run', title: t('Run') }, html`<div class="body">${facts}</div>`)}
    <section class="panel" aria-label="${t('Kinds of the run')}">${reportTable(run, reader)}</section>
  </div>`;
  const heads = { heading: capitalize(`${term(command)} ${id}`), about: runBadge(reader, run) };
  return { title: t('Run {id}', { id }), ...heads, content, isStill: finishedAt !== null };
});

const COUNTS = [
  ['rows', 'rows'],
  ['created', 'rows created'],
  ['updated', 'rows updated'],
  ['deleted', 'rows deleted'],
  ['restored', 'rows restored'],
  ['quarantined', 'quarantined'],
] as const;

function reportTable(run: Run & { readonly reports: readonly KindReport[] }, reader: Reader): Html {
  const { t, count, tenths } = reader;
  return dataTable(
    {
      caption: t('What the run found, kind by kind'),
      rows: run.reports,
      none: t('No kind has been read yet.'),
    },
    column(t('kind'), '', ({ kind }) => html`<a href="/kinds/${kind}">${labelledKind(reader, kind)}</a>`),
    column(t('end'), 'parts', (report) => {
      const { why } = describeOutcome({ ...report, missing: null }, reader);
      const isDetailed = why === null || isFailedReading(report.state) || run.command === 'verify';
      return html`${badge(reader, report.state, reportLabel(run, report, reader))}
        <p class="small quiet brief" title="${report.detail}">${why}</p>
        ${isDetailed ? html`<p class="small quiet brief" lang="en">${report.detail}</p>` : null}`;
    }),
    ...COUNTS.map(([member, name]) => countColumn<KindReport>(reader, name, (report) => report[member])),
    column(t('requests'), 'number wide', ({ requests }) => count(requests)),
    column(t('took'), 'number wide', ({ durationMs }) => tenths(durationMs)),
  );
}
