/**
 * Makes the pattern of a secret, however a program may spell it when it repeats it: plain, escaped in JSON once or more
 * often, in a URL, or in HTML.
 *
 * @param secret Not empty.
 */
export function secretPattern(secret: string): RegExp {
  return new RegExp(spelled(secret), 'g');
}

/** The length of the longest spelling of one UTF-16 unit: its number in HTML. */
export const LONGEST_SPELLING = 16;

/**
 * The source of a pattern that finds a text in every spelling.
 *
 * Each character may be spelled in its own way: some encoders escape `+` and `/` only, some everything.
 */
export function spelled(text: string): string {
  return Array.from(text, (character) => `(?:${spellings(character).join('|')})`).join('');
}

/** The longest first: the plain `%` begins `%25`, too. Bounded, or a page of backslashes would take minutes. */
function spellings(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  return [
    character.split('').map(escaped).join(''),
    Array.from(Buffer.from(character), (byte) => `%${hex(byte, 2)}`).join(''),
    `&#0{0,8}${code};`,
    `&#[xX]0{0,8}${hex(code, 1)};`,
    ...shortEscapes(character),
    literal(character),
  ];
}

/** JSON's own, and PHP's `\\/`; escaped once more where JSON is put into JSON. */
function shortEscapes(character: string): string[] {
  const short = character === '/' ? '\\/' : JSON.stringify(character).slice(1, -1);
  if (short === character) return [];
  // Of more backslashes some may belong to what follows, which must stay JSON.
  return character === '\\' ? ['\\\\{4}', '\\\\{2}'] : [`\\\\{1,3}${literal(short.slice(1))}`];
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const escaped = (unit: string): string => `\\\\{1,8}u${hex(unit.charCodeAt(0), 4)}`;

function hex(value: number, digits: number): string {
  const text = value.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
