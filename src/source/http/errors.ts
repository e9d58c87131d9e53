import { SyncError } from '../../lib/sync-error.ts';
import { maskSecrets } from '../../lib/text/mask-secrets.ts';

const PAGING = 'The list cannot be read page by page now, so missing records do not count as deleted.';
const PROXY = 'Check source.baseUrl, and whether a proxy answers in its place.';

interface Reason {
  readonly state: 'invalid' | 'aborted';
  readonly hint: string;
  /** The answer is garbled: the same read may be answered well, so it is asked again. */
  readonly isGarbled?: true;
}

const garbled = (hint: string): Reason => ({ state: 'invalid', hint, isGarbled: true });
const invalid = (hint: string): Reason => ({ state: 'invalid', hint });
const aborted = (hint: string): Reason => ({ state: 'aborted', hint });

/** Every failure of the service: its effect on a sweep, and advice for the reader. */
const REASONS = {
  not_json: garbled(PROXY),
  html: garbled('The answer is a web page: check source.baseUrl.'),
  not_utf8: garbled('The service must answer in UTF-8; nothing is guessed.'),
  too_deep: garbled('No record is nested this deeply: check source.baseUrl.'),
  success_false: garbled('The service reported a failure; see its log.'),
  data_not_a_list: garbled('A list answers {"data":[…]}: is the path right?'),
  bad_meta: garbled('A list answers "meta" as an object, or none.'),
  empty_body: garbled(PROXY),
  wrong_record: garbled("Does the path address another kind's records?"),
  cached: garbled('A cache answers in place of the service: exclude /api from it.'),
  page_ignored: garbled(PAGING),
  page_repeated: garbled(PAGING),
  page_grew: garbled(PAGING),
  page_resized: garbled(PAGING),
  endless: invalid(PAGING),
  empty_pages: invalid(PAGING),
  page_unread: invalid('The next pull tries again.'),
  unauthorized: aborted('Check BMS_TOKEN, and the header that carries it (source.authHeaders).'),
  forbidden: aborted("The token's user may not read this kind; other kinds are unaffected."),
  blocked: aborted(
    'A firewall or proxy in front of the service refuses the request: ask its operator to let bms-sync through. This says nothing about the token.',
  ),
  not_found: aborted('Check source.baseUrl: it is the part before /api.'),
  redirected: aborted('Redirects are never followed: set source.baseUrl to the final address.'),
  rejected: aborted('The service rejects the request; see its log.'),
  unreachable: aborted('Check BMS_BASE_URL (source.baseUrl), source.proxyUrl and the network.'),
  timeout: aborted('Raise source.timeoutSeconds if the service is only slow.'),
  too_big: aborted('Raise source.maxBodyBytes if an answer of this size is right.'),
  unavailable: aborted('The next run tries again.'),
  rate_limited: aborted(
    'The service allows fewer requests: lower source.requestsPerSecond or source.concurrency.',
  ),
  interrupted: aborted('Nothing is lost; the next run starts again.'),
} satisfies Record<string, Reason>;

/** Stable word for a fault; it ends up in reports. */
export type SourceReason = keyof typeof REASONS;

/** Reasons that mean, after all tries, that the service is away: refused connections, time-outs, 5xx. */
export const AWAY_REASONS: readonly SourceReason[] = ['unreachable', 'timeout', 'unavailable'];

interface SourceErrorDetails {
  readonly cause?: unknown;
  /** Set where the same request may succeed later; `waitMs` is how long the service asked us to wait. */
  readonly passing?: { readonly waitMs: number | null } | undefined;
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
  readonly passing: SourceErrorDetails['passing'];
  readonly status: SourceErrorDetails['status'];

  constructor(reason: SourceReason, message: string, details: SourceErrorDetails = {}) {
    const { state, hint, isGarbled }: Reason = REASONS[reason];
    super(message, { code: `source.${reason}`, hint: details.hint ?? hint, cause: details.cause });
    this.reason = reason;
    this.state = state;
    this.passing = details.passing ?? (isGarbled && { waitMs: null });
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
      throw new SourceError(error.reason, message, { passing: error.passing, status });
    }
  };
}
