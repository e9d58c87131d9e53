import { getSystemErrorMap } from 'node:util';

/** The root of all faults that a person can act on; anything else that is thrown is a bug in bms-sync. */
export class SyncError extends Error {
  override readonly name: string = 'SyncError';
  readonly code: string;
  readonly hint: string | undefined;

  /** @param details `code`: a stable name for programs, `source.unreachable`; `hint`: advice for the reader. */
  constructor(
    message: string,
    details: { readonly code: string; readonly hint?: string; readonly cause?: unknown },
  ) {
    super(message, { cause: details.cause });
    this.code = details.code;
    this.hint = details.hint;
  }
}

/** The command or its settings cannot be carried out as given. */
export class UsageError extends SyncError {
  override readonly name = 'UsageError';
}

/** The signal has ended the work before its end; the message tells a person what that means. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** The message and the advice in one text for a person. */
export function errorText(error: SyncError): string {
  const message = /[.!?…]$/.test(error.message) ? error.message : `${error.message}.`;
  return error.hint === undefined ? error.message : `${message} ${error.hint}`;
}

/** The code of an error of Node or a driver, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The words of Node for the codes of the system, and for three others. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ...getSystemErrorMap().values(),
  ['ENOTFOUND', 'host name is unknown'],
  ['EAI_AGAIN', 'host name cannot be looked up'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connection timed out'],
]);

/** The reason of an error in a few words: `connection refused`. Our own errors are words already. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const ofCode =
    error instanceof SyncError ? undefined : REASONS.get(errorCode(error) || errorCode(error.cause));
  return ofCode ?? error.message.replace(/\.$/, '');
}

const OWN_TYPES = [TypeError, RangeError, ReferenceError, SyntaxError, URIError, EvalError];

/**
 * Whether an error that a library's call threw is a fault of this program: one of JavaScript's own types without a code of the
 * system, or what Node and undici answer to arguments that they cannot use. Anything else is a fault of the place that was called,
 * whatever its code: lists of codes only choose words.
 */
export function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const code = errorCode(error);
  if (/^(?:UND_)?ERR_INVALID_/.test(code)) return true;
  return OWN_TYPES.some((type) => error instanceof type) && !/^E[A-Z0-9]+$/.test(code);
}

/** Words a refusal of the operating system that no edge has worded, by its message, which names the call and the place. */
export function wordSystemFault(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error) || error instanceof SyncError || isOurs(error))
    return error;
  return new SyncError(`The operating system refused a call: ${error.message}.`, {
    code: 'system.refused',
    hint: 'Correct what it names: the room on the disk, the rights of this user, or its limits.',
    cause: error,
  });
}

/** Makes an error of the network as Node and undici do: known by its code, with facts that its words need. */
export const codedError = (code: string, message: string, facts: object = {}): Error =>
  Object.assign(new Error(message), { code, ...facts });

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there: a part of its path is no folder',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

/** Explains why a file cannot be read, as the end of a sentence about it: `is not there`. */
export function describeFileFault(error: unknown): string {
  const code = errorCode(error);
  if (code === 'file.encoding' && error instanceof SyncError) return error.message;
  return FILE_FAULTS[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}
