export interface ErrorDetails {
  /** Stable name of the fault, for programs: `source.unreachable`. */
  readonly code: string;
  /** Advice for the reader. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The root of all faults that a person can act on; anything else that is thrown is a bug in bms-sync. */
export class SyncError extends Error {
  override readonly name: string = 'SyncError';
  readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, { cause: details.cause });
    this.code = details.code;
    this.hint = details.hint;
  }
}

/** The command or its settings cannot be carried out as given. */
export class UsageError extends SyncError {
  override readonly name = 'UsageError';
}

/** The message and the advice in one text for a person. */
export function describe(error: SyncError): string {
  const message = /[.!?…]$/.test(error.message) ? error.message : `${error.message}.`;
  return error.hint === undefined ? error.message : `${message} ${error.hint}`;
}
