import { instantOf } from '../../../lib/time/clock.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { SummedRun } from './read-overview.ts';
import { counted, roughly } from './words.ts';

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
