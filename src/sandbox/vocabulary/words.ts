/** Splits a list that is written as running text, one item after each comma or line end. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s*[,\n]\s*/);
}

/** The text without accents: as it appears in a code or an address of the web. */
export function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{Diacritic}/gu, '');
}

/** `Toitures Lévesque & Fils` → `toitures-levesque-fils`. */
export function slug(text: string): string {
  return withoutAccents(text)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
