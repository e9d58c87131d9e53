import { escapeUTF8 } from 'entities';

/** HTML whose values are escaped. */
export interface Html {
  readonly html: string;
}

/** A value in a template of HTML. */
export type Part = Html | string | number | null | readonly Part[];

/** Writes HTML; values are escaped as text, except HTML that this function itself wrote. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, index) => `${text}${renderPart(parts[index] ?? null)}`).join('') };
}

function renderPart(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeUTF8(String(part));
  return 'html' in part ? part.html : part.map(renderPart).join('');
}

/** Writes attributes behind the name of a tag; null = none. */
export const attributesOf = (values: Readonly<Record<string, string | null>>): readonly Html[] =>
  Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [html` ${name}="${value}"`]));

/** Lets a part that scrolls take the keyboard's focus, under a name. */
export const focusable = (label: string): Html => html`tabindex="0" role="group" aria-label="${label}"`;
