import { parseInstant } from '../../lib/time/clock.ts';
import { listRuns, sumsOfRuns, type Run, type RunSums } from '../../store/runs/run-store.ts';
import { runLabel } from '../../words/outcome-texts.ts';
import { html, type Html } from '../../http/html.ts';
import { badge, column, countColumn, dataTable } from './layout.ts';
import { ellipsize, labelledKinds } from './values.ts';
import type { Dashboard } from './page.ts';
import type { Reader } from './reader.ts';

type SummedRun = Awaited<ReturnType<typeof listRuns>>[number] & { readonly sums: RunSums };

export async function readRuns(
  dashboard: Dashboard,
  wanted: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly SummedRun[]> {
  const runs = await listRuns(dashboard.session, wanted);
  const ids = runs.map((run) => run.id);
  const sums = await sumsOfRuns(dashboard.session, ids);
  return runs.map((run) => ({ ...run, sums: sums.get(run.id) ?? { rows: 0, changes: 0 } }));
}

export function runTable(rows: readonly SummedRun[], reader: Reader): Html {
  const { t, term, when } = reader;
  return dataTable(
    { caption: t('Runs, newest first'), rows, none: t('No run yet.') },
    column(t('run'), '', (run) => {
      const tries = t('tried {n, number} times', { n: run.repeats.length + 1 });
      const lastTry = (last: Run): Html =>
        html`<a class="small" href="/runs/${last.id}">${tries}</a> ${runBadge(reader, last)}`;
      return html`<a href="/runs/${run.id}">${term(run.command)} ${run.id}</a> ${runBadge(reader, run)}
        ${run.repeats.slice(-1).map(lastTry)}`;
    }),
    column(t('kinds'), 'brief', ({ kinds, extent }) => {
      const n = kinds.length - KINDS_SHOWN;
      const names = labelledKinds(reader, kinds.slice(0, KINDS_SHOWN));
      return html`${n > 0 ? t('{names} and {n, number} more', { names, n }) : names}
      ${extent && html`<code class="small">${ellipsize(extent, LONGEST_EXTENT)}</code>`}`;
    }),
    column(t('began'), 'nowrap early', ({ startedAt }) => when(startedAt) ?? t('waits')),
    column(t('took'), 'number wide', ({ startedAt, finishedAt }) => duration(startedAt, finishedAt, reader)),
    countColumn(reader, 'rows', ({ sums }) => sums.rows),
    countColumn(reader, 'changed rows', ({ sums }) => sums.changes),
  );
}

const LONGEST_EXTENT = 40;

/** One of the runs of a slot. */
export const tryLink = (run: Run, reader: Reader): Html =>
  html`<a href="/runs/${run.id}">${run.id}</a> ${runBadge(reader, run)} `;

export const runBadge = (reader: Reader, run: Run): Html =>
  badge(reader, run.state, reader.term(runLabel(run)));

const KINDS_SHOWN = 3;

export function duration(from: string | null, to: string | null, reader: Reader): string {
  if (from === null || to === null) return '–';
  const ms = parseInstant(to).getTime() - parseInstant(from).getTime();
  return ms < 10_000 ? reader.tenths(ms) : reader.durationText(ms);
}
