import { MARK, SANDBOX_TOKEN } from '../support/canary.ts';

/** Bytes by which a secret is known. */
export interface Needle {
  readonly secret: string;
  readonly bytes: Buffer;
}

/** As it is written, which JSON, URLs, HTML and SQL leave as it is where it consists of letters; and escaped in JSON. */
const commonSpellings = (letters: string): Buffer[] => [
  Buffer.from(letters),
  Buffer.from(Array.from(letters, (letter) => `\\u00${Buffer.from(letter).toString('hex')}`).join('')),
];

function rareSpellings(letters: string): Buffer[] {
  const bytes = Buffer.from(letters);
  const hex = bytes.toString('hex');
  const texts = [...[0, 1, 2].map((before) => inBase64(bytes, before)), hex, hex.toUpperCase()];
  return [...texts.map((text) => Buffer.from(text)), Buffer.from(letters, 'utf16le')];
}

/** What base64 always makes of bytes that come after so many others: the digits that share no bit with a neighbour. */
function inBase64(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const from = Math.ceil((before * 8) / 6);
  return whole.toString('base64').slice(from, Math.floor((whole.length * 8) / 6));
}

/** Each needle is one more pass over all bytes: the token of the sandbox is looked for as it is written only. */
const COMMON: readonly Needle[] = [
  ...commonSpellings(MARK).map((bytes) => ({ secret: MARK, bytes })),
  { secret: SANDBOX_TOKEN, bytes: Buffer.from(SANDBOX_TOKEN) },
];
const ALL: readonly Needle[] = [...COMMON, ...rareSpellings(MARK).map((bytes) => ({ secret: MARK, bytes }))];

/** The longest needle reaches over so many bytes into the next piece. */
export const OVERLAP = Math.max(...ALL.map(({ bytes }) => bytes.length)) - 1;

export interface Search {
  /** Secrets that may stand there, and why is said where they are allowed. */
  readonly allowed?: readonly string[] | undefined;
  /** Not in the rare spellings, where there is much to search. */
  readonly isQuick?: boolean | undefined;
}

/** Whether bytes hold a secret. */
export function holds(bytes: Buffer, { allowed = [], isQuick = false }: Search = {}): boolean {
  const needles = isQuick ? COMMON : ALL;
  return needles.some((needle) => !allowed.includes(needle.secret) && bytes.includes(needle.bytes));
}
