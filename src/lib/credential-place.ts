import { spelled } from './secret-pattern.ts';

/** The number of characters before a value that are searched for signs of credentials. */
const LOOKED_AT = 400;

const QUOTE = String.raw`\\*["'\x60]`;
/** Names of members, parameters and headers that hold credentials. */
const NAME = String.raw`(?:pass(?:word|wd|phrase|(?![a-z]))|pwd|secret|token|api[-_ ]?key|credentials?|auth(?:[a-z]{0,9}ation)?(?![a-z]))[\w.-]{0,32}`;
const SCHEME = String.raw`(?:bearer|basic|auth|requirepass)`;
const [COLON, EQUALS, SLASHES, AT] = [':', '=', '//', '@'].map(spelled);

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
const GOES_ON = /^[\p{L}\p{N}]/u;

/**
 * Whether credentials stand at a place of a text: in the user part of a URL, under a name such as `password`, in a header
 * that carries a token, quoted by a driver.
 *
 * @param start Where the value begins.
 * @param end Where it ends; a value that ends inside a word is not a credential.
 */
export function isCredentialPlace(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - LOOKED_AT), start);
  const after = text.slice(end, end + 16);
  const [inUrl, ...others] = BEFORE;
  if (inUrl?.test(before) === true && AFTER_IN_URL.test(after)) return true;
  return !GOES_ON.test(after) && others.some((pattern) => pattern.test(before));
}
