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

export const NOTHING: Html = { html: '' };
