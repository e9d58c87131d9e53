import { focusable, html, type Html } from '../../http/html.ts';
import { column, dataTable } from './layout.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';
import type { Reader } from './reader.ts';

interface Plot {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly points: readonly { readonly at: Date; readonly value: number }[];
  /** Steps for counts of equal reader, a line for measurements. */
  readonly shape: 'steps' | 'line';
}

/** Draws numbers over time, the oldest first. The script draws them; a table shows them too. */
export function plotFigure(plot: Plot, reader: Reader): Html {
  const { id, title, unit, points, shape } = plot;
  const { t, count, minute, timezone } = reader;
  const data = JSON.stringify({
    unit,
    shape,
    timezone,
    at: points.map((point) => point.at.getTime() / 1000),
    values: points.map((point) => point.value),
  });
  const table = dataTable(
    { caption: title, rows: points.toReversed(), layout: 'grid' },
    column(t('when'), '', ({ at }) => minute(at)),
    column(unit, 'number', ({ value }) => count(value)),
  );
  return html`<figure class="plot" id="plot-${id}">
    <div class="canvas" data-plot="${data}" aria-hidden="true"></div>
    <details id="table-${id}">
      <summary>${t('{title}: as a table', { title })}</summary>
      <div class="scroll" ${focusable(title)}>${table}</div>
    </details>
  </figure>`;
}

const WIDTH = 144;
const HEIGHT = 28;

/** The outline of counts as steps, in a box of 144 × 28: the largest count touches the top. */
export function stepsPath(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  const step = WIDTH / Math.max(1, counts.length);
  const heights = counts.map((count) => round(HEIGHT - (count / most) * (HEIGHT - 2)));
  const steps = heights.map((height, index) => `V${height}H${round((index + 1) * step)}`);
  return `M0 ${HEIGHT}${steps.join('')}V${HEIGHT}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

const BUSY: MessageKey =
  '{sum, plural, =0 {0 changes in {hours} hours} one {1 change in {hours} hours, {most, number} in the busiest one} other {# changes in {hours} hours, {most, number} in the busiest one}}';

/** Draws counts per hour in a small line, the oldest first, with a text for screen readers. */
export function sparkLine(translator: Translator, counts: readonly number[]): Html {
  const sum = counts.reduce((all, count) => all + count, 0);
  const most = Math.max(0, ...counts);
  const text = translator.t(BUSY, { sum, hours: counts.length, most });
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
