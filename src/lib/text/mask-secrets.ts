const MASK = '[redacted]';

/**
 * Makes a function that blanks out every known secret in a text, however it is spelled there. One that ordinary texts may
 * contain, such as `postgres`, is blanked out only where credentials stand: elsewhere that would destroy messages.
 */
export function maskSecrets(secrets: readonly string[]): (text: string) => string {
  const sortedSecrets = secrets.filter((secret) => secret !== '');
  sortedSecrets.sort((a, b) => b.length - a.length); // One secret may be the beginning of another.
  const masks = sortedSecrets.map(maskOf);
  return (text) => [...masks, ...addedMasks.values()].reduce((masked, mask) => mask(masked), text);
}

const addedMasks = new Map<string, (text: string) => string>();

/** Adds a secret that became known while this process runs: from now on every mask, of loggers too, blanks it out. */
export function addSecret(secret: string): void {
  addedMasks.set(secret, maskOf(secret));
}

function maskOf(secret: string): (text: string) => string {
  const pattern = secretPattern(secret);
  if (isDistinctive(secret)) return (text) => text.replace(pattern, MASK);
  return (text) =>
    text.replace(pattern, (match: string, start: number) =>
      isCredentialPlace(text, start, start + match.length) ? MASK : match,
    );
}

const FEWEST_CHARACTERS = 6;
const LONG = 20;
const MEDIUM = 12;
const SHORT = 8;

/** One word as texts have it, or one number. */
const WORD = /^(?:\p{Lu}?\p{Ll}*|\p{Lu}*|\p{N}*)$/u;
const CLASSES = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u];

/** Whether a text rarely occurs in others by chance: it has several characters, and is long or neither word nor number. */
export function isDistinctive(secret: string): boolean {
  if (new Set(secret).size < FEWEST_CHARACTERS) return false;
  if (secret.length >= LONG) return true;
  if (secret.length >= MEDIUM) return !WORD.test(secret);
  return secret.length >= SHORT && CLASSES.filter((characters) => characters.test(secret)).length >= 3;
}

/** The number of characters before a value that are searched for signs of credentials. */
const CONTEXT_LENGTH = 400;

const QUOTE = String.raw`\\*["'\x60]`;
/** Names of members, parameters and headers that hold credentials. */
const NAME = String.raw`(?:pass(?:word|wd|phrase|(?![a-z]))|pwd|secret|token|api[-_ ]?key|credentials?|auth(?:[a-z]{0,9}ation)?(?![a-z]))[\w.-]{0,32}`;
const SCHEME = String.raw`(?:bearer|basic|auth|requirepass)`;
const [COLON, EQUALS, SLASHES, AT] = [':', '=', '//', '@'].map(spellingPattern);

/** Text that precedes a credential, up to its first character. */
const BEFORE = [
  // A URL: `postgres://user:…@`, `https://…@`.
  String.raw`${COLON}${SLASHES}(?:[^\s/@:]{0,256}${COLON})?`,
  // `password=…`, `"adminToken":"…"`, `Authorization: Bearer …`.
  String.raw`${NAME}(?:${QUOTE})?\s{0,4}(?:${COLON}|${EQUALS}>?)\s{0,4}(?:${QUOTE})?(?:${SCHEME}\s{1,4})?`,
  // As a driver quotes it: `password "…"`; as a command line has it: `--password …`.
  String.raw`${NAME}\s{0,4}${QUOTE}`,
  String.raw`--${NAME}\s{1,4}(?:${QUOTE})?`,
  // `Bearer …`, and the command of Redis, plain or with its arguments in a list.
  String.raw`\b${SCHEME}\s{1,4}(?:${QUOTE})?`,
  String.raw`\bauth\W{1,8}args\W{1,8}(?:[^\]]{0,256}\W)?`,
].map((source) => new RegExp(`(?:${source})$`, 'i'));

const AFTER_IN_URL = new RegExp(`^${AT}`, 'i');
const CONTINUES_WORD = /^[\p{L}\p{N}]/u;

/**
 * Whether credentials stand at a place of a text: in the user part of a URL, under a name such as `password`, in a header that
 * carries a token, quoted by a driver. A value that ends inside a word is none.
 */
function isCredentialPlace(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT_LENGTH), start);
  const after = text.slice(end, end + 16);
  const [inUrl, ...textPatterns] = BEFORE;
  if (inUrl?.test(before) === true && AFTER_IN_URL.test(after)) return true;
  return !CONTINUES_WORD.test(after) && textPatterns.some((pattern) => pattern.test(before));
}

/** The pattern of a secret, not empty, however a program may spell it: plain, in a URL, escaped in JSON once or more often. */
export function secretPattern(secret: string): RegExp {
  return new RegExp(spellingPattern(secret), 'g');
}

/** The length of the longest spelling of one UTF-16 unit: `u`, its number, and backslashes. */
export const LONGEST_SPELLING = 13;

/** A pattern that finds a text in every spelling: some encoders escape `+` and `/` only, some everything. */
function spellingPattern(text: string): string {
  return Array.from(text, (character) => `(?:${spellings(character).join('|')})`).join('');
}

/** The longest first: the plain `%` begins `%25`, too. Bounded, or a page of backslashes would take minutes. */
function spellings(character: string): string[] {
  const units = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4));
  const bytes = Array.from(Buffer.from(character), (byte) => `%${hex(byte, 2)}`);
  return [
    units.map((unit) => `\\\\{1,8}u${unit}`).join(''),
    bytes.join(''),
    ...shortEscapes(character),
    escapePattern(character),
  ];
}

/** JSON's own, and PHP's `\\/`; escaped once more where JSON is put into JSON. */
function shortEscapes(character: string): string[] {
  const short = character === '/' ? '\\/' : JSON.stringify(character).slice(1, -1);
  if (short === character) return [];
  // Of more backslashes some may belong to what follows, which must stay JSON.
  return character === '\\' ? ['\\\\{4}', '\\\\{2}'] : [`\\\\{1,3}${escapePattern(short.slice(1))}`];
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function hex(value: number, digits: number): string {
  const text = value.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
