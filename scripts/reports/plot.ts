/** What a plot shows: a bar for each row, stacked of its values. */
export interface Plot {
  readonly caption: string;
  readonly series: readonly string[];
  readonly rows: readonly { readonly label: string; readonly values: readonly number[] }[];
  /** Times stand side by side, names below each other. */
  readonly isTime: boolean;
}

const WIDTH = 760;
const MARGIN = 16;
const TOP = 64; // Below the caption and the legend.
const ROW = 26;
const HEIGHT = 200; // Of the tallest column.
const LABELS = 215; // Room for names beside their bars …
const TOTALS = 90; // … and for the totals behind them.

/** Colours that people distinguish whatever they see of red and green; the second of each pair is for dark pages. */
const COLOURS = [
  ['#0969da', '#4493f8'],
  ['#bc4c00', '#f0883e'],
  ['#6e7781', '#9198a1'],
  ['#8250df', '#ab7df8'],
] as const;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .caption { font-weight: 600; font-size: 14px; }
  .time { font-size: 10px; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .zero { stroke: #818b98; }
${COLOURS.map(([light], at) => `  .s${at} { fill: ${light}; }`).join('\n')}
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; stroke: #3d444d; }
${COLOURS.map(([, dark], at) => `    .s${at} { fill: ${dark}; }`).join('\n')}
  }`;

/** Draws a plot as SVG on a ground of its own, light or dark as the reader's screen is. */
export function svgOf(plot: Plot): string {
  const height = TOP + MARGIN + (plot.isTime ? HEIGHT + 2 * ROW : plot.rows.length * ROW);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(plot.caption)}</title>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
<text class="caption" x="${MARGIN}" y="26">${escaped(plot.caption)}</text>
${legendOf(plot)}${(plot.isTime ? columnsOf(plot) : barsOf(plot)).join('\n')}
</svg>
`;
}

function legendOf({ series }: Plot): string {
  if (series.length === 1) return '';
  const entries = series.map((name, at) => {
    const x = MARGIN + at * 120;
    return `<rect class="s${at}" x="${x}" y="39" width="12" height="12"/><text x="${x + 18}" y="49">${escaped(name)}</text>`;
  });
  return `${entries.join('\n')}\n`;
}

function barsOf(plot: Plot): string[] {
  const zero = MARGIN + LABELS;
  const scale = (WIDTH - zero - TOTALS - MARGIN) / largestOf(plot);
  return plot.rows.flatMap(({ label, values }, index) => {
    const y = TOP + index * ROW;
    const parts = stacked(values).map(
      ({ from, size }, at) =>
        `<rect class="s${at}" x="${number(zero + from * scale)}" y="${y}" width="${number(size * scale)}" height="${ROW - 8}"/>`,
    );
    const total = sum(values);
    return [
      `<text x="${zero - 8}" y="${y + 14}" text-anchor="end">${escaped(shortened(label))}</text>`,
      ...parts,
      `<text x="${number(zero + total * scale + 6)}" y="${y + 14}">${written(total)}</text>`,
    ];
  });
}

function columnsOf(plot: Plot): string[] {
  const bottom = TOP + ROW + HEIGHT;
  const scale = HEIGHT / largestOf(plot);
  const step = (WIDTH - 2 * MARGIN) / plot.rows.length;
  const columns = plot.rows.flatMap(({ label, values }, index) => {
    const x = MARGIN + index * step;
    const middle = number(x + step / 2);
    const parts = stacked(values).map(
      ({ from, size }, at) =>
        `<rect class="s${at}" x="${number(x + step * 0.15)}" y="${number(bottom - (from + size) * scale)}" width="${number(step * 0.7)}" height="${number(size * scale)}"/>`,
    );
    const total = sum(values);
    return [
      ...parts,
      `<text x="${middle}" y="${number(bottom - total * scale - 6)}" text-anchor="middle">${written(total)}</text>`,
      ...label
        .split(' ')
        .map(
          (part, line) =>
            `<text class="time" x="${middle}" y="${bottom + 18 + 12 * line}" text-anchor="middle">${escaped(part)}</text>`,
        ),
    ];
  });
  return [
    ...columns,
    `<line class="zero" x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${bottom}" y2="${bottom}"/>`,
  ];
}

/** Where each part of a bar begins and how long it is. */
function stacked(values: readonly number[]): readonly { readonly from: number; readonly size: number }[] {
  return values.map((size, at) => ({ from: sum(values.slice(0, at)), size }));
}

/** A bar of a negative value has no length here: a plot of such values needs another drawing. */
function largestOf({ rows, caption }: Plot): number {
  if (rows.some(({ values }) => values.some((value) => value < 0)))
    throw new RangeError(`“${caption}” has negative values.`);
  return Math.max(1, ...rows.map(({ values }) => sum(values)));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Places within the drawing, to a tenth. */
const number = (value: number): string => String(Math.round(value * 10) / 10);

/** A total for a reader: in thousands from ten thousand on. */
function written(value: number): string {
  return value >= 10_000 ? `${Math.round(value / 1000)} k` : String(Math.round(value));
}

const MOST_LETTERS = 28;

const shortened = (text: string): string =>
  text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
