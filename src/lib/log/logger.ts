import { pino, type DestinationStream, type Logger } from 'pino';
import { SyncError, errorCode } from '../sync-error.ts';
import { maskSecrets } from '../text/mask-secrets.ts';
import { sanitizeJson, sanitizeLine } from '../text/text.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Values that never appear in a log line: not in a message, a URL or an error's text. */
  readonly secrets: readonly string[];
  readonly destination: DestinationStream;
  /** Whether the line before this one could not be written. */
  readonly isGap?: () => boolean;
}

const HEADERS = ['Authentication', 'Authorization', 'Authentification'];

/** Creates the JSON logger: control characters are escaped, secrets masked by their path and, for what that misses, by value. */
export function createLogger(options: LoggerOptions): Logger {
  const mask = maskSecrets(options.secrets);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: HEADERS.flatMap((name) => [name, `*.${name}`, `headers.${name.toLowerCase()}`]),
      serializers: { err: errorFacts },
      mixin: () => (options.isGap?.() === true ? { linesLost: true } : {}),
      hooks: { streamWrite: (line) => sanitizeJson(mask(line)) },
    },
    options.destination,
  );
}

/** Tells of an error only what it says itself: ioredis adds the command, which may contain the password. Only a bug has its stack. */
function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const { name: type } = error;
  if (error instanceof SyncError) return { type, code: error.code, message: error.message, hint: error.hint };
  const { message, stack } = pino.stdSerializers.err(error); // With those of its causes.
  const errors = error instanceof AggregateError ? error.errors.map(errorFacts) : undefined;
  return { type, message, stack, code: errorCode(error) || undefined, errors };
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** Members of a line that its text has already. */
const SHOWN_KEYS = new Set(['time', 'level', 'msg', 'event', 'hint', 'err']);

/** Turns a line of the JSON log into text for a terminal: time (UTC), level unless it is info, message, and what it lacks. */
export function formatLogLine(line: string): string {
  const members = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { time, level, msg, event, hint, err } = members;
  // The message of an outcome says all that a person wants to know.
  const extraMembers =
    typeof event === 'string' ? [] : Object.entries(members).filter(([key]) => !SHOWN_KEYS.has(key));
  const name = LEVELS[Number(level)];
  const text = [
    String(time).slice(11, 19),
    ...(name === undefined ? [] : [name]),
    valueAsText(msg),
    ...extraMembers.map(([key, value]) => `${key}=${valueAsText(value)}`),
    ...(hint === undefined ? [] : [`(${valueAsText(hint)})`]),
  ];
  return [text.join(' '), ...errorLines(err)].map((each) => `${sanitizeLine(each)}\n`).join('');
}

function valueAsText(value: unknown = ''): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function errorLines(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { stack, message, hint } = error as Readonly<Record<string, unknown>>;
  const advice = hint === undefined ? '' : ` (${valueAsText(hint)})`;
  return `${valueAsText(stack ?? message)}${advice}`.split('\n').map((line) => `  ${line}`);
}
