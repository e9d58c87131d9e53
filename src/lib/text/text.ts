/** Characters that no database keeps: PostgreSQL refuses NUL, SQLite stores half a character as another one. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0'); // Many times as fast as the pattern.
}

/** A text with a replacement character for each character that no database keeps. */
export function storable(text: string): string {
  return text.replace(new RegExp(UNSTORABLE, 'gu'), '\ufffd');
}

/** Cuts a text to at most `length`, never through the middle of a character. */
export function shortened(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
