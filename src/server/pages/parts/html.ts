/** HTML whose values are escaped. */
export interface Html {
  readonly html: string;
}

type Part = Html | string | number | null | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Writes HTML; values are escaped as text, except HTML that this function itself wrote. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, index) => `${text}${written(parts[index] ?? null)}`).join('') };
}

function written(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return 'html' in part ? part.html : part.map((some) => some.html).join('');
}

/** No HTML. */
export const NOTHING: Html = { html: '' };

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
