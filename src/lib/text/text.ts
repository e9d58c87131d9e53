/** Whether every database keeps a text: PostgreSQL refuses NUL, SQLite stores half a character as another one. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** A text with a replacement character for each character that no database keeps. */
export const replaceUnstorable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Cuts a text to at most `length`, never through the middle of a character. */
export function truncate(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** Characters that steer a terminal, end a line, or turn the direction in which it is read. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** Those of them that JSON may contain unescaped. */
const CONTROL_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** A text as one line for a terminal, with a replacement character for each control character. */
export function sanitizeLine(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** The same JSON, with each character that would steer a terminal as its escape. */
export function sanitizeJson(json: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(CONTROL_IN_JSON, escaped);
}

export const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Ends a clause that has no end of its own. */
export const withFullStop = (clause: string): string => (/[.?!…]$/u.test(clause) ? clause : `${clause}.`);

export const sentence = (clause: string): string => withFullStop(capitalize(clause));

/** Whole numbers in their order, neighbours as ranges: `1`, `5-9`. */
export function rangesOf(numbers: readonly (number | string)[]): readonly string[] {
  const ranges: [bigint, bigint][] = [];
  for (const number of numbers.map(BigInt).sort((a, b) => (a < b ? -1 : 1))) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1n === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}
