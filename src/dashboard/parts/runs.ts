import { parseInstant } from '../../lib/time/clock.ts';
import { listRuns, sumsOfRuns, type Run, type RunSums } from '../../store/runs/run-store.ts';
import { runLabel } from '../../words/outcome-texts.ts';
import { dataTable, html, type Html } from '../../http/html.ts';
import { badge, countCell, emptyNote } from './layout.ts';
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

export function runTable(runs: readonly SummedRun[], reader: Reader): Html {
  const { t, term, when } = reader;
  if (runs.length === 0) return emptyNote(t('No run yet.'));
  const numbers = [{ number: t('took') }, { number: t('rows') }, { number: t('changed rows') }];
  const headings = [t('run'), t('kinds'), t('began'), ...numbers];
  const rows = runs.map((run) => {
    const { id, command, extent, kinds, startedAt, finishedAt, repeats, sums } = run;
    const more = kinds.length - KINDS_SHOWN;
    const names = labelledKinds(reader, kinds.slice(0, KINDS_SHOWN));
    const tries = t('tried {n, number} times', { n: repeats.length + 1 });
    const lastTry = (last: Run): Html =>
      html`<a class="small" href="/runs/${last.id}">${tries}</a> ${runBadge(reader, last)}`;
    return html`<tr>
      <th scope="row">
        <a href="/runs/${id}">${term(command)} ${id}</a> ${runBadge(reader, run)}
        ${repeats.slice(-1).map(lastTry)}
      </th>
      <td class="brief">
        ${more > 0 ? t('{names} and {n, number} more', { names, n: more }) : names}
        ${extent === null ? null : html`<code class="small">${ellipsize(extent, LONGEST_EXTENT)}</code>`}
      </td>
      <td class="nowrap early">${startedAt === null ? t('waits') : when(startedAt)}</td>
      <td class="number wide" data-title="${t('took')}">${duration(startedAt, finishedAt, reader)}</td>
      ${countCell(reader, 'rows', sums.rows)} ${countCell(reader, 'changed rows', sums.changes)}
    </tr>`;
  });
  return dataTable(t('Runs, newest first'), headings, rows, 'cards');
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
