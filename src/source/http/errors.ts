import { FAULT_REASONS, type FaultReason } from '../../catalog/fault-reasons.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { maskSecrets } from '../../lib/text/mask-secrets.ts';

/** Stable word for a fault; it ends up in reports. */
export type SourceReason = keyof typeof FAULT_REASONS;

/** Reasons that mean, after all tries, that the service is away: refused connections, time-outs, 5xx. */
export const AWAY_REASONS: readonly SourceReason[] = ['unreachable', 'timeout', 'unavailable'];

interface SourceErrorDetails {
  readonly cause?: unknown;
  /** How long the service asked us to wait. */
  readonly waitMs?: number | null | undefined;
  /** Of the answer, if there was one. */
  readonly status?: number | undefined;
  /** Advice that names the place; by default that of the reason. */
  readonly hint?: string | undefined;
}

/**
 * A fault of the service or of the way to it; `invalid` = it answered nonsense, `aborted` = no answer. The message quotes
 * nothing of an answer: it ends up in reports, tables and logs, where no one looks for the content of a record.
 */
export class SourceError extends SyncError {
  override readonly name = 'SourceError';
  readonly reason: SourceReason;
  readonly state: 'invalid' | 'aborted';
  /** Set where the same request may succeed later. */
  readonly passing: { readonly waitMs: number | null } | undefined;
  readonly status: SourceErrorDetails['status'];

  constructor(reason: SourceReason, message: string, details: SourceErrorDetails = {}) {
    const { state, hint, passes }: FaultReason = FAULT_REASONS[reason];
    super(message, { code: `source.${reason}`, hint: details.hint ?? hint, cause: details.cause });
    this.reason = reason;
    this.state = state;
    this.passing = passes && { waitMs: details.waitMs ?? null };
    this.status = details.status;
  }
}

/** Creates a wrapper for readers of an answer: replaces a message that contains the token by one that only names the request. */
export function redactErrors(where: string, status: number, token: string): <T>(read: () => T) => T {
  return (read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (maskSecrets([token])(error.message) === error.message) throw error;
      const message = `${where}: got an answer that repeats the token (status ${status})`;
      throw new SourceError(error.reason, message, { waitMs: error.passing?.waitMs, status });
    }
  };
}
