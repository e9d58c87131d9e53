import { instantOf } from '../../lib/time/clock.ts';
import { listRuns, sumsOfRuns } from '../../mirror/runs/run-store.ts';
import type { Run, RunSums } from '../../mirror/runs/run-store.ts';
import { dataTable, html } from '../../http/html.ts';
import type { Html } from '../../http/html.ts';
import { badge, countCell, nothing } from './layout.ts';
import type { Dashboard } from './page.ts';
import type { Reader } from './reader.ts';

type SummedRun = Run & { readonly sums: RunSums };

/** The latest runs before an id, newest first. */
export async function readRuns(
  { session, clock }: Dashboard,
  wanted: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly SummedRun[]> {
  const runs = await listRuns(session, { ...wanted, now: clock.now() });
  const ids = runs.map(({ id }) => id);
  const sums = await sumsOfRuns(session, ids);
  return runs.map((run) => ({ ...run, sums: sums.get(run.id) ?? { rows: 0, changes: 0 } }));
}

/** Runs as a table, in the given order. */
export function runTable(runs: readonly SummedRun[], reader: Reader): Html {
  if (runs.length === 0) return nothing('No run yet.');
  const headings = ['run', 'kinds', 'began', { number: 'took' }, { number: 'rows' }, { number: 'changed' }];
  const rows = runs.map(({ id, command, kinds, state, startedAt, finishedAt, sums }) => {
    const more = kinds.length - KINDS_SHOWN;
    const names = kinds.slice(0, KINDS_SHOWN).join(', ');
    return html`<tr>
      <th scope="row"><a href="/runs/${id}">${command} ${id}</a> ${runBadge(state)}</th>
      <td class="brief">${more > 0 ? `${names} and ${more} more` : names}</td>
      <td class="nowrap early">${startedAt === null ? 'waits' : reader.when(startedAt)}</td>
      <td class="number wide" data-title="took">${duration(startedAt, finishedAt, reader)}</td>
      ${countCell('rows', sums.rows)} ${countCell('changed', sums.changes)}
    </tr>`;
  });
  return dataTable('Runs, the newest first', headings, rows, 'cards');
}

const KINDS_SHOWN = 3;

/** How long something took between two of our instants. */
export function duration(from: string | null, to: string | null, reader: Reader): string {
  if (from === null || to === null) return '–';
  const ms = instantOf(to).getTime() - instantOf(from).getTime();
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : reader.lasting(ms);
}

const TONES = {
  running: 'info',
  done: 'good',
  incomplete: 'warn',
  failed: 'bad',
  interrupted: 'warn',
};

/** The state of a run as a coloured word. */
export const runBadge = (state: string): Html => badge(state, TONES);
