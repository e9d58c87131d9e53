import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { secretPattern } from './secret-pattern.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Values that never appear in a log line, wherever they hide: in a message, a URL, an error's text. */
  readonly secrets: readonly string[];
  readonly destination: DestinationStream;
}

const HEADERS = ['Authentication', 'Authorization', 'Authentification'];

/** Creates the JSON logger; secrets are masked by their path and, for what a path misses, by their value. */
export function createLogger({ level, secrets, destination }: LoggerOptions): Logger {
  const mask = maskSecrets(secrets);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: HEADERS.flatMap((name) => [name, `*.${name}`, `headers.${name.toLowerCase()}`]),
      hooks: { streamWrite: mask },
    },
    destination,
  );
}

/** Makes a function that blanks out every known secret in a text, however it is spelled there. */
export function maskSecrets(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret !== '');
  known.sort((a, b) => b.length - a.length); // Of two secrets, one may begin the other.
  const patterns = known.map(secretPattern);
  return (text) => patterns.reduce((masked, pattern) => masked.replace(pattern, '[redacted]'), text);
}
