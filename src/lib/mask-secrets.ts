import { isCredentialPlace } from './credential-place.ts';
import { secretPattern } from './secret-pattern.ts';

const MASK = '[redacted]';

/**
 * Makes a function that blanks out every known secret in a text, however it is spelled there.
 *
 * A secret that ordinary texts may contain, such as `postgres`, is blanked out only where credentials stand. Elsewhere the
 * word is not secret, and blanking it out would destroy messages.
 */
export function maskSecrets(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret !== '');
  known.sort((a, b) => b.length - a.length); // One secret may be the beginning of another.
  const masks = known.map(maskOne);
  return (text) => masks.reduce((masked, mask) => mask(masked), text);
}

function maskOne(secret: string): (text: string) => string {
  const pattern = secretPattern(secret);
  if (isDistinctive(secret)) return (text) => text.replace(pattern, MASK);
  return (text) =>
    text.replace(pattern, (found: string, start: number) =>
      isCredentialPlace(text, start, start + found.length) ? MASK : found,
    );
}

const PART = 8;

/** Whether a text holds a part of a secret that is worth hiding: eight characters of one twice as long. */
export function holdsPart(text: string, secret: string): boolean {
  if (secret.length < 2 * PART) return false;
  const starts = Array.from({ length: secret.length - PART + 1 }, (_, start) => start);
  return starts.some((start) => secretPattern(secret.slice(start, start + PART)).test(text));
}

const FEWEST_CHARACTERS = 6;
const LONG = 20;
const MEDIUM = 12;
const SHORT = 8;

/** One word as texts have it, or one number. */
const WORD = /^(?:\p{Lu}?\p{Ll}*|\p{Lu}*|\p{N}*)$/u;
const CLASSES = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u];

/**
 * Whether a text is unlikely to occur in other texts by chance: it is long, or neither a word nor a number, and has several
 * different characters.
 */
export function isDistinctive(secret: string): boolean {
  if (new Set(secret).size < FEWEST_CHARACTERS) return false;
  if (secret.length >= LONG) return true;
  if (secret.length >= MEDIUM) return !WORD.test(secret);
  return secret.length >= SHORT && CLASSES.filter((characters) => characters.test(secret)).length >= 3;
}
