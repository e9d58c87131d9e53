import { instantOf } from '../../../lib/time/clock.ts';
import { listRuns, sumsOfRuns } from '../../../mirror/runs/run-store.ts';
import type { Run, RunSums } from '../../../mirror/runs/run-store.ts';
import { count, counted, dataTable, html, roughly, when } from './html.ts';
import type { Html } from './html.ts';
import type { Dashboard } from './page.ts';

/** A run with what it changed. */
export type SummedRun = Run & { readonly sums: RunSums };

/** The latest runs before an id, newest first. */
export async function readRuns(
  { session, clock }: Dashboard,
  wanted: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly SummedRun[]> {
  const runs = await listRuns(session, { ...wanted, now: clock.now() });
  const sums = await sumsOfRuns(
    session,
    runs.map(({ id }) => id),
  );
  const none = { rows: 0, changes: 0 };
  return runs.map((run) => ({ ...run, sums: sums.get(run.id) ?? none }));
}

/** Runs as a table, in the given order. */
export function runTable(runs: readonly SummedRun[], now: Date): Html {
  if (runs.length === 0) return html`<p class="none">No run yet.</p>`;
  return dataTable(
    {
      caption: 'Runs, the newest first',
      headings: ['run', 'kinds', 'began', { number: 'took' }, { number: 'rows' }, { number: 'changed' }],
      rows: runs.map((run) => runRow(run, now)),
    },
    'cards',
  );
}

function runRow({ id, command, kinds, state, startedAt, finishedAt, sums }: SummedRun, now: Date): Html {
  return html`<tr>
    <th scope="row"><a href="/runs/${id}">${command} ${id}</a> ${runBadge(state)}</th>
    <td data-title="kinds">${kindsText(kinds)}</td>
    <td data-title="began" class="nowrap">${startedAt === null ? 'waits' : when(startedAt, now)}</td>
    <td class="number" data-title="took">${duration(startedAt, finishedAt)}</td>
    <td class="number" data-title="rows">${count(sums.rows)}</td>
    <td class="number" data-title="changed">${sums.changes === 0 ? '–' : count(sums.changes)}</td>
  </tr>`;
}

const KINDS_SHOWN = 3;

/** The first kinds, and how many more there are. */
function kindsText(kinds: readonly string[]): string {
  const more = kinds.length - KINDS_SHOWN;
  return more > 0 ? `${kinds.slice(0, KINDS_SHOWN).join(', ')} and ${more} more` : kinds.join(', ');
}

/** How long something took between two of our instants. */
export function duration(from: string | null, to: string | null): string {
  if (from === null || to === null) return '–';
  const ms = instantOf(to).getTime() - instantOf(from).getTime();
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : roughly(ms);
}

const TONES: Readonly<Record<string, string>> = {
  requested: 'plain',
  running: 'info',
  done: 'good',
  incomplete: 'warn',
  failed: 'bad',
  interrupted: 'warn',
};

/** The state of a run as a coloured word. */
export const runBadge = (state: string): Html =>
  html`<span class="state ${TONES[state] ?? 'plain'}">${state}</span>`;

const [WIDTH, LANE, BAR] = [1000, 26, 14];
const HOUR_MS = 3_600_000;
const SPANS_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];

/** A run as a bar of the timeline. */
interface Bar {
  readonly run: SummedRun;
  readonly x: number;
  readonly width: number;
}

interface Lane {
  readonly command: string;
  readonly bars: readonly Bar[];
}

/** The runs of the latest hours as bars, a lane for each command; as long a time as the runs fill. */
export function lanesOf(
  runs: readonly SummedRun[],
  now: Date,
): { readonly spanMs: number; readonly lanes: readonly Lane[] } {
  const begun = runs.filter(({ startedAt }) => startedAt !== null);
  const ages = begun.map(({ startedAt }) => now.getTime() - instantOf(startedAt ?? '').getTime());
  const spanMs = SPANS_MS.find((span) => Math.max(0, ...ages) <= span) ?? 24 * HOUR_MS;
  const from = now.getTime() - spanMs;
  const place = (ms: number): number => Math.min(WIDTH, Math.max(0, ((ms - from) / spanMs) * WIDTH));
  const lanes = new Map<string, Bar[]>();
  for (const run of begun) {
    const start = instantOf(run.startedAt ?? '').getTime();
    const end = run.finishedAt === null ? now.getTime() : instantOf(run.finishedAt).getTime();
    if (end < from) continue;
    const x = Math.min(WIDTH - 3, Math.round(place(start)));
    const bar = { run, x, width: Math.max(3, Math.round(place(end) - place(start))) };
    lanes.set(run.command, [...(lanes.get(run.command) ?? []), bar]);
  }
  return { spanMs, lanes: [...lanes].map(([command, bars]) => ({ command, bars })) };
}

/** Draws when runs were at work; the table below says the same. */
export function runTimeline(runs: readonly SummedRun[], now: Date): Html | null {
  const { spanMs, lanes } = lanesOf(runs, now);
  if (lanes.length === 0) return null;
  const height = lanes.length * LANE;
  return html`<figure class="timeline">
    <div class="lanes" aria-hidden="true">${lanes.map(({ command }) => html`<span>${command}</span>`)}</div>
    <svg
      viewBox="0 0 ${WIDTH} ${height}"
      preserveAspectRatio="none"
      height="${height}"
      role="img"
      aria-label="${counted(runs.length, 'run')} of the last ${roughly(spanMs)} as bars"
    >
      ${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<line x1="${share * WIDTH}" x2="${share * WIDTH}" y1="0" y2="${height}" />`)}
      ${lanes.map(({ bars }, lane) => bars.map((bar) => barOf(bar, lane * LANE + (LANE - BAR) / 2))).flat()}
    </svg>
    <figcaption class="small quiet">
      <span>${roughly(spanMs)} ago</span><span>${roughly(spanMs / 2)} ago</span><span>now</span>
    </figcaption>
  </figure>`;
}

function barOf({ run, x, width }: Bar, y: number): Html {
  const { id, command, state, sums } = run;
  return html`<rect class="bar ${state}" x="${x}" y="${y}" width="${width}" height="${BAR}">
    <title>${command} ${id}: ${state}, ${counted(sums.changes, 'change')}</title>
  </rect>`;
}
