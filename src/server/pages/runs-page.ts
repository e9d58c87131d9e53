import type { KindReport, Run } from '../../mirror/runs/run-store.ts';
import { outcomeWords } from '../../mirror/kinds/outcome-words.ts';
import { html, dataTable } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { stateBadge } from './parts/kinds-panel.ts';
import { pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';
import type { SummedRun } from './parts/read-overview.ts';
import { duration, runBadge, runTable, runTimeline } from './parts/runs.ts';
import { count, exactly } from './parts/words.ts';

/** The facts of the page of runs. */
interface RunsFacts {
  readonly page: RowsShown<SummedRun>;
  /** The runs that the timeline draws. */
  readonly recent: readonly SummedRun[];
  readonly query: { readonly before?: number | undefined };
  readonly now: Date;
}

/** Runs, newest first, with a drawing of the latest. */
export function runsPage({ page, recent, query, now }: RunsFacts): Html {
  const drawing = query.before === undefined ? runTimeline(recent, now) : null;
  return html`<div class="title">
      <h1>Runs</h1>
      <p>Every reading of the service, the newest first</p>
    </div>
    ${
      drawing === null
        ? null
        : html`<section class="panel" aria-labelledby="timeline-title" id="timeline" data-live>
            <header><h2 id="timeline-title">Timeline</h2></header>
            <div class="body">${drawing}</div>
          </section>`
    }
    <section class="panel" aria-label="Runs" id="runs" ${query.before === undefined ? html`data-live` : null}>
      ${runTable(page.rows, now)} ${pageLinks({ path: '/runs', query, next: page.next })}
    </section>`;
}

/** One run, kind by kind. */
export function runPage({
  id,
  command,
  state,
  reason,
  kinds,
  startedAt,
  finishedAt,
  reports,
}: Run & { readonly reports: readonly KindReport[] }): Html {
  const waiting = kinds.filter((kind) => !reports.some((report) => report.kind === kind));
  const facts: readonly (readonly [string, Html | string | null])[] = [
    ['Began (UTC)', startedAt === null ? 'waits for a background service' : exactly(startedAt)],
    ['Ended', finishedAt === null ? null : exactly(finishedAt)],
    ['Took', finishedAt === null ? null : duration(startedAt, finishedAt)],
    ['Reason', reason],
    ['Without a report', waiting.length === 0 ? null : waiting.join(', ')],
  ];
  return html`<div class="title">
      <h1>${command} ${id}</h1>
      <p>${runBadge(state)}</p>
    </div>
    <div id="run" data-live>
      <section class="panel" aria-labelledby="run-title">
        <header><h2 id="run-title">Run</h2></header>
        <div class="body">
          <dl class="facts">
            ${facts.map(([name, value]) =>
              value === null
                ? html``
                : html`<dt>${name}</dt>
                    <dd>${value}</dd>`,
            )}
          </dl>
        </div>
      </section>
      <section class="panel" aria-label="Kinds of the run">${reportTable(reports)}</section>
    </div>`;
}

const COUNTS = ['rows', 'created', 'updated', 'deleted', 'restored', 'quarantined', 'requests'] as const;

function reportTable(reports: readonly KindReport[]): Html {
  if (reports.length === 0) return html`<p class="none">No kind has been read yet.</p>`;
  const rows = reports.map(
    (report) =>
      html`<tr>
        <th scope="row"><a href="/kinds/${report.kind}">${report.kind}</a></th>
        <td data-title="end">
          ${stateBadge(report)}
          <p class="small quiet">${report.detail ?? outcomeWords(report).why}</p>
        </td>
        ${COUNTS.map((name) => html`<td class="number" data-title="${name}">${report[name] === 0 ? '–' : count(report[name])}</td>`)}
        <td class="number" data-title="took">${(report.durationMs / 1000).toFixed(1)} s</td>
      </tr>`,
  );
  return dataTable(
    {
      caption: 'What the run found, kind by kind',
      headings: ['kind', 'end', ...COUNTS.map((number) => ({ number })), { number: 'took' }],
      rows,
    },
    'cards',
  );
}
