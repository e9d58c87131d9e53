import { MARK, SANDBOX_TOKEN } from '../support/canary.ts';

/** Bytes that identify a secret. */
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
  /** Bytes that were searched in the same way and hold no secret: what is the same in both is not searched again. */
  readonly clean?: Buffer | undefined;
}

/** Whether bytes hold a secret. */
export function holds(bytes: Buffer, { allowed = [], isQuick = false, clean }: Search = {}): boolean {
  const needles = (isQuick ? COMMON : ALL).filter(({ secret }) => !allowed.includes(secret));
  const parts = clean === undefined ? [bytes] : partsUnlike(bytes, clean);
  return parts.some((part) => needles.some((needle) => part.includes(needle.bytes)));
}

const BLOCK = 1024;

/** What of some bytes differs from others in the same place, each part widened by what a secret could reach over its edge. */
function partsUnlike(bytes: Buffer, others: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from: number | null = null;
  for (let at = 0; at <= bytes.length; at += BLOCK) {
    const end = Math.min(at + BLOCK, bytes.length);
    const isSame = end <= others.length && others.compare(bytes, at, end, at, end) === 0;
    if (!isSame) from ??= Math.max(0, at - OVERLAP);
    if (from === null || !(isSame || end === bytes.length)) continue;
    parts.push(bytes.subarray(from, isSame ? at + OVERLAP : end));
    from = null;
  }
  return parts;
}
