/** HTML whose values are escaped. */
export interface Html {
  readonly html: string;
}

/** What may stand in a template of HTML. */
export type Part = Html | string | number | null | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Writes HTML; values are escaped as text, except HTML that this function itself wrote. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, index) => `${text}${written(parts[index] ?? null)}`).join('') };
}

function written(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number')
    return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  return 'html' in part ? part.html : part.map((some) => some.html).join('');
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** A length of time in its largest unit: `31 s`, `4 min`, `5 h`, `12 days`. */
export function roughly(ms: number): string {
  if (ms < 1.5 * MINUTE) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < 1.5 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 1.5 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} days`;
}

/** How long ago an instant was, or in how long it will be. */
export function distance(instant: Date, now: Date): string {
  const ms = now.getTime() - instant.getTime();
  if (Math.abs(ms) < 1000) return 'just now';
  return ms > 0 ? `${roughly(ms)} ago` : `in ${roughly(-ms)}`;
}

/** A number with its thousands apart. */
export const count = (number: number): string => number.toLocaleString('en-US');

/** A number with its noun: `1 row`, `2,000 rows`. */
export const counted = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${count(number)} ${number === 1 ? noun : nouns}`;

/** A clause as a sentence. */
export const sentence = (clause: string): string => `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size in its largest unit: `340 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power] ?? ''}`;
}

/** A heading: a text, a text over numbers, or HTML. */
type Heading = string | { readonly number: string } | Html;

/** Writes a table, a `tr` for each row. `cards`: each is a card on a narrow screen; `words`, `diff`: its headings are not seen. */
export function dataTable(
  caption: string,
  headings: readonly Heading[],
  rows: readonly Html[],
  layout: 'cards' | 'grid' | 'words' | 'diff' = 'grid',
): Html {
  const areSpoken = layout === 'words' || layout === 'diff';
  return html`<table class="${layout}">
    <caption class="unseen">
      ${caption}
    </caption>
    <thead ${areSpoken ? html`class="unseen"` : null}>
      <tr>
        ${headings.map((heading) =>
          typeof heading === 'object' && 'number' in heading
            ? html`<th scope="col" class="number">${heading.number}</th>`
            : html`<th scope="col">${heading}</th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
