import { SyncError } from '../lib/sync-error.ts';
import { storable } from '../lib/text.ts';

const WEB_PAGE = 'The answer is a web page: is source.baseUrl right?';
const PAGING = 'The list cannot be read page by page as it answers now; nothing is concluded from absence.';
const LATER = 'The service may be back later; the next run starts anew.';

/** Every way in which the service can fail us: what it does to a sweep, and what the reader can do about it. */
const REASONS = {
  not_json: { state: 'invalid', hint: 'Is source.baseUrl right, and does a proxy answer in its place?' },
  html: { state: 'invalid', hint: WEB_PAGE },
  not_utf8: { state: 'invalid', hint: 'The service must answer in UTF-8; nothing is guessed.' },
  too_deep: { state: 'invalid', hint: 'No record is nested so deep: is source.baseUrl right?' },
  success_false: { state: 'invalid', hint: 'The service says that it failed; its log may say why.' },
  data_not_a_list: { state: 'invalid', hint: 'A list answers {"data":[…]}: is the path right?' },
  bad_meta: { state: 'invalid', hint: 'A list answers "meta" as an object, or none.' },
  page_ignored: { state: 'invalid', hint: PAGING },
  page_repeated: { state: 'invalid', hint: PAGING },
  page_grew: { state: 'invalid', hint: PAGING },
  endless: { state: 'invalid', hint: PAGING },
  empty_body: { state: 'invalid', hint: 'Is source.baseUrl right, and does a proxy answer in its place?' },
  wrong_record: { state: 'invalid', hint: "Does the path address another kind's records?" },
  cached: {
    state: 'invalid',
    hint: 'A cache answers in the service’s place: let it pass requests for /api through.',
  },
  unauthorized: {
    state: 'aborted',
    hint: 'Check BMS_TOKEN, and source.authHeaders for the header that carries it.',
  },
  forbidden: {
    state: 'aborted',
    hint: "The token's user may not read this kind; other kinds are unaffected.",
  },
  not_found: { state: 'aborted', hint: 'Is source.baseUrl right? It is the part before /api.' },
  redirected: {
    state: 'aborted',
    hint: 'Redirects are never followed: set source.baseUrl to the final address.',
  },
  rejected: { state: 'aborted', hint: 'The service does not accept the request; its log may say why.' },
  unreachable: { state: 'aborted', hint: 'Check source.baseUrl, source.proxyUrl and the network.' },
  timeout: { state: 'aborted', hint: 'Raise source.timeoutSeconds if the service is only slow.' },
  too_big: { state: 'aborted', hint: 'Raise source.maxBodyBytes if an answer of this size is right.' },
  unavailable: { state: 'aborted', hint: LATER },
  interrupted: { state: 'aborted', hint: 'Nothing is lost; the next run starts anew.' },
} as const satisfies Record<string, { state: 'invalid' | 'aborted'; hint: string }>;

/** Stable word for a fault; it ends up in reports. */
export type SourceReason = keyof typeof REASONS;

export interface SourceErrorDetails {
  readonly cause?: unknown;
  /** Set where the same request may succeed later; `waitMs` is how long the service asked us to wait. */
  readonly passing?: { readonly waitMs: number | null };
}

/** A fault of the service or of the way to it; `invalid` = it answered nonsense, `aborted` = it gave no answer. */
export class SourceError extends SyncError {
  override readonly name = 'SourceError';
  readonly reason: SourceReason;
  readonly state: 'invalid' | 'aborted';
  readonly passing: SourceErrorDetails['passing'];

  constructor(reason: SourceReason, message: string, details: SourceErrorDetails = {}) {
    super(message, { code: `source.${reason}`, hint: REASONS[reason].hint, cause: details.cause });
    this.reason = reason;
    this.state = REASONS[reason].state;
    this.passing = details.passing;
  }
}

const EXCERPT_LENGTH = 80;

/** The beginning of a body, on one line, short enough for a message. */
export function excerpt(text: string): string {
  const start = storable(text.slice(0, EXCERPT_LENGTH)).replace(/\s+/g, ' ').trim();
  return text.length > EXCERPT_LENGTH ? `${start}…` : start;
}
