const PAGING = 'The list cannot be read page by page now, so missing records do not count as deleted.';
const PROXY = 'Check source.baseUrl, and whether a proxy answers in its place.';
/** The cure of a refused token where nothing shows which setting has it. */
export const REPLACE_TOKEN = 'Replace the token: bms-sync doctor names the setting that has it.';

export interface FaultReason {
  readonly state: 'invalid' | 'aborted';
  readonly hint: string;
  /** It may pass by itself: the same read may be answered well, so it is asked again, and so is the list. */
  readonly passes?: true;
}

const garbled = (hint: string): FaultReason => ({ state: 'invalid', hint, passes: true });
const away = (hint: string): FaultReason => ({ state: 'aborted', hint, passes: true });
const invalid = (hint: string): FaultReason => ({ state: 'invalid', hint });
const aborted = (hint: string): FaultReason => ({ state: 'aborted', hint });

/** Every failure of the service: its effect on a sweep, and advice for the reader. */
export const FAULT_REASONS = {
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
  page_unread: garbled('The next pull tries again.'),
  unauthorized: aborted(`${REPLACE_TOKEN} Check its header, too (source.authHeaders).`),
  forbidden: aborted("The token's user may not read this kind; other kinds are unaffected."),
  blocked: aborted(
    'A firewall or proxy in front of the service refuses the request: ask its operator to let bms-sync through. This says nothing about the token.',
  ),
  not_found: aborted('Check source.baseUrl: it is the part before /api.'),
  redirected: aborted('Redirects are never followed: set source.baseUrl to the final address.'),
  rejected: aborted('The service rejects the request; see its log.'),
  unreachable: away('Check BMS_BASE_URL (source.baseUrl), source.proxyUrl and the network.'),
  timeout: away('Raise source.timeoutSeconds if the service is only slow.'),
  too_big: aborted('Raise source.maxBodyBytes if an answer of this size is right.'),
  unavailable: away('The next run tries again.'),
  rate_limited: away(
    'The service allows fewer requests: lower source.requestsPerSecond or source.concurrency.',
  ),
  interrupted: aborted('Nothing is lost; the next run starts again.'),
} satisfies Record<string, FaultReason>;

/** Faults of the whole service, or of the way to it, not of one list. */
export const SERVICE_WIDE_REASONS: readonly string[] = [
  'unauthorized',
  'blocked',
  'unreachable',
  'unavailable',
  'rate_limited',
  'interrupted',
];

export const isServiceWide = (reason: string | null): boolean => SERVICE_WIDE_REASONS.includes(reason ?? '');

/** The reasons that may pass by themselves, without a person. */
export const PASSING_REASONS = Object.entries<FaultReason>(FAULT_REASONS).flatMap(([reason, { passes }]) =>
  passes ? [reason] : [],
);
