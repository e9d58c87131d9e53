import * as z from 'zod';
import { latestSeq } from '../mirror/records/change-store.ts';
import { SyncError } from '../lib/sync-error.ts';
import { isFailed, outcomeWords } from '../mirror/kinds/outcome-words.ts';
import { findRun } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import type { Server } from '../http/server.ts';
import { count, dataTable, html } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { stateBadge } from './parts/kinds.ts';
import { countCell, factList, listPanel, nothing, pageTitle, panel } from './parts/layout.ts';
import { before, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { duration, readRuns, runBadge, runTable } from './parts/runs.ts';
import { rowPath } from '../operations/inputs.ts';

/** Adds the pages of runs. */
export function addRunPages(app: Server, dashboard: Dashboard): void {
  const { session, clock, readerOf } = dashboard;
  const listOptions = pageOptions('Show runs', { querystring: z.object({ before }) });
  app.get('/runs', listOptions, async ({ query }, reply) => {
    const reader = readerOf(reply.request);
    const page = listPage(await readRuns(dashboard, { ...query, limit: PAGE_ROWS + 1 }), ({ id }) => id);
    const list = html`${runTable(page.rows, reader)} ${pageLinks('/runs', query, page.next)}`;
    const content = html`${pageTitle('Runs', 'Every reading of the service, the newest first')}
    ${listPanel('runs', 'Runs', query.before === undefined, list)}`;
    return sendPage(reply, { title: 'Runs', part: '/runs', content, after: await latestSeq(session) });
  });
  const options = pageOptions('Show one run', { params: rowPath });
  app.get('/runs/:id', options, async ({ params: { id } }, reply) => {
    const reader = readerOf(reply.request);
    const run = await findRun(session, id, clock.now());
    if (run === null)
      throw new SyncError(`There is no run ${id}, or it was removed.`, { code: 'run.absent' });
    const { command, state, reason, kinds, startedAt, finishedAt, reports } = run;
    const waiting = kinds.filter((kind) => !reports.some((report) => report.kind === kind));
    const facts = factList([
      ['Began', startedAt === null ? 'waits for a background service' : reader.exactly(startedAt)],
      ['Ended', finishedAt === null ? null : reader.exactly(finishedAt)],
      ['Took', finishedAt === null ? null : duration(startedAt, finishedAt, reader)],
      ['Reason', reason],
      ['Without a report', waiting.length === 0 ? null : waiting.join(', ')],
    ]);
    const content = html`${pageTitle(`${command} ${id}`, runBadge(state))}
      <div id="run" data-live>
        ${panel({ id: 'run', title: 'Run' }, html`<div class="body">${facts}</div>`)}
        <section class="panel" aria-label="Kinds of the run">${reportTable(reports)}</section>
      </div>`;
    const after = finishedAt === null ? { after: await latestSeq(session) } : {};
    return sendPage(reply, { title: `Run ${id}`, part: '/runs', content, ...after });
  });
}

const COUNTS = ['rows', 'created', 'updated', 'deleted', 'restored', 'quarantined'] as const;

function reportTable(reports: readonly KindReport[]): Html {
  if (reports.length === 0) return nothing('No kind has been read yet.');
  const rows = reports.map(
    (report) =>
      html`<tr>
        <th scope="row"><a href="/kinds/${report.kind}">${report.kind}</a></th>
        <td class="parts">
          ${stateBadge(report)}
          <p class="small quiet brief" title="${report.detail}">
            ${(isFailed(report.state) ? report.detail : null) ?? outcomeWords(report).why}
          </p>
        </td>
        ${COUNTS.map((name) => countCell(name, report[name]))}
        <td class="number wide">${count(report.requests)}</td>
        <td class="number wide">${(report.durationMs / 1000).toFixed(1)} s</td>
      </tr>`,
  );
  const headings = ['kind', 'end', ...[...COUNTS, 'requests', 'took'].map((number) => ({ number }))];
  return dataTable('What the run found, kind by kind', headings, rows, 'cards');
}
