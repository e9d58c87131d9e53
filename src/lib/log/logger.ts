import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { maskSecrets } from '../text/mask-secrets.ts';
import { plainJson } from '../text/plain-text.ts';
import { SyncError } from '../sync-error.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Values that never appear in a log line: not in a message, a URL or an error's text. */
  readonly secrets: readonly string[];
  readonly destination: DestinationStream;
}

const HEADERS = ['Authentication', 'Authorization', 'Authentification'];

/**
 * Creates the JSON logger; secrets are masked by their path and, for what a path misses, by their value.
 *
 * Control characters are escaped in its lines.
 */
export function createLogger({ level, secrets, destination }: LoggerOptions): Logger {
  const mask = maskSecrets(secrets);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: HEADERS.flatMap((name) => [name, `*.${name}`, `headers.${name.toLowerCase()}`]),
      serializers: { err: errorInLog },
      hooks: { streamWrite: (line) => plainJson(mask(line)) },
    },
    destination,
  );
}

/** A fault that a person can act on has no stack: only a bug needs one. */
function errorInLog(error: unknown): unknown {
  if (!(error instanceof SyncError)) return error instanceof Error ? pino.stdSerializers.err(error) : error;
  const { name: type, code, message, hint } = error;
  return { type, code, message, hint };
}
