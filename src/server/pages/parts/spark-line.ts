import { html } from './html.ts';
import type { Html } from './html.ts';
import { counted } from './words.ts';

const [WIDTH, HEIGHT] = [144, 28];

/** The outline of counts as steps, in a box of 144 × 28: the largest count touches the top. */
export function stepsPath(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  const step = WIDTH / Math.max(1, counts.length);
  const heights = counts.map((count) => round(HEIGHT - (count / most) * (HEIGHT - 2)));
  const steps = heights.map((height, index) => `V${height}H${round((index + 1) * step)}`);
  return `M0 ${HEIGHT}${steps.join('')}V${HEIGHT}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Counts an hour as a small drawing, the oldest first; its text says the same. */
export function sparkLine(counts: readonly number[]): Html {
  const sum = counts.reduce((all, count) => all + count, 0);
  const most = Math.max(0, ...counts);
  const inAll = `${counted(sum, 'change')} in ${counts.length} hours`;
  const text = sum === 0 ? inAll : `${inAll}, ${most} in the busiest one`;
  return html`<svg
    class="spark"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${text}"
  >
    <line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}" />
    ${sum === 0 ? null : html`<path d="${stepsPath(counts)}" />`}
  </svg>`;
}
