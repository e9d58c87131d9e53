import { dataTable } from './data-table.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { count } from './words.ts';

/** Numbers over time, to be drawn large; the oldest first. */
interface Plot {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly points: readonly PlotPoint[];
  /** Steps for counts of equal times, a line for measurements. */
  readonly shape: 'steps' | 'line';
}

interface PlotPoint {
  readonly at: Date;
  readonly value: number;
}

/** A plot: the script draws it from its data; without the script, and for who does not see it, it is a table. */
export function plotFigure({ id, title, unit, points, shape }: Plot): Html {
  const data = JSON.stringify({
    ...{ unit, shape, at: points.map(({ at }) => at.getTime() / 1000) },
    values: points.map(({ value }) => value),
  });
  return html`<figure class="plot" id="plot-${id}">
    <div class="canvas" data-plot="${data}" aria-hidden="true"></div>
    <details id="table-${id}">
      <summary>${title}: as a table</summary>
      <div class="scroll">
        ${dataTable({
          caption: title,
          headings: ['when (UTC)', { number: unit }],
          rows: points.toReversed().map(
            ({ at, value }) =>
              html`<tr>
                <th scope="row">${at.toISOString().slice(0, 16).replace('T', ' ')}</th>
                <td class="number">${count(value)}</td>
              </tr>`,
          ),
        })}
      </div>
    </details>
  </figure>`;
}
