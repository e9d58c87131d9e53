import { html } from './html.ts';
import type { Html } from './html.ts';

/** A heading: a text, a text over numbers, or HTML. */
type Heading = string | { readonly number: string } | Html;

interface DataTable {
  /** The caption, for screen readers. */
  readonly caption: string;
  readonly headings: readonly Heading[];
  /** A `tr` for each row. */
  readonly rows: readonly Html[];
}

/** Writes a table whose headings name its columns. `cards`: on a narrow screen each row becomes a card. */
export function dataTable({ caption, headings, rows }: DataTable, layout: 'cards' | 'grid' = 'grid'): Html {
  return html`<table ${layout === 'cards' ? html`class="cards"` : null}>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${headings.map(headingCell)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function headingCell(heading: Heading): Html {
  if (typeof heading === 'object' && 'number' in heading)
    return html`<th scope="col" class="number">${heading.number}</th>`;
  return html`<th scope="col">${heading}</th>`;
}
