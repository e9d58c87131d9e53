import { translatorFor, type Translator, type MessageKey } from '../lib/text/translator.ts';

/** How the last reading of a kind's list ended. */
interface ReadingEnd {
  /** `certified`, `complete`, `invalid`, `aborted`, `busy`, `running` or `never`. */
  readonly state: string;
  /** The stable code beside the state. */
  readonly reason: string | null;
  /** True until a second reading has reached the end of the list. */
  readonly isFirst?: boolean;
  /** The number of rows for the texts; without it they name none. */
  readonly rows?: number | null;
  readonly isOfSeveral?: boolean;
  /** Records that `forget --suppress` keeps out of the mirror. */
  readonly suppressed?: number;
  /** Rows that the list lacks and the mirror still has, counted by the state of their deletion; null = unknown, as of a past reading. */
  readonly missing: Readonly<Record<string, number>> | null;
}

interface OutcomeText {
  readonly label: string;
  /** Why the list is not known exactly; null if it is. */
  readonly why: string | null;
  /** The knowledge about the mirror's rows; null if the state says all. */
  readonly known: string | null;
  /** The work of the next pull, or of a person; null if there is nothing to say. */
  readonly next: string | null;
}

/** Of lists that are read again by themselves. */
export const READ_AGAIN: MessageKey = '{kinds}: {why}, first {first}. To be read again: {next}.';

/** Whether a fault prevented reading a list to its end; it was not busy. */
export const isFailedReading = (state: string): boolean => state === 'invalid' || state === 'aborted';

/** The state of a run for a person: as that of a kind that it could not read. */
export const runLabel = ({ state }: { readonly state: string }): string =>
  state === 'incomplete' ? 'not read to its end' : state;

/** The same of what a run has read of a kind: a backfill may have read some records alone, and verify compares. */
export const reportLabel = (
  { command }: { readonly command: string },
  report: Omit<ReadingEnd, 'missing'>,
  translator = translatorFor('en'),
): string =>
  command !== 'pull' && report.state === 'complete' ? translator.t('done') : outcomeLabel(report, translator);

/** A few words for a column of a table. */
export const outcomeLabel = (end: Omit<ReadingEnd, 'missing'>, translator?: Translator): string =>
  describeOutcome({ ...end, missing: null }, translator).label;

export function describeOutcome(end: ReadingEnd, translator = translatorFor('en')): OutcomeText {
  const { state, reason, rows, isOfSeveral } = end;
  const { suppressed: n = 0 } = end;
  const out = n === 0 ? '' : translator.t(KEPT_OUT, { n });
  if (state === 'complete') return describeComplete(end, out, translator);
  if (isFailedReading(state) || state === 'busy') return describeFault(end, translator);
  const { t } = translator;
  if (state !== 'certified') return { ...describeUnread(end, translator), known: null, next: null };
  const values = { rows: rows ?? ALL, lists: isOfSeveral === true ? 'several' : 'one' };
  const isWhole = reason !== 'older_kept';
  return { label: t('certified'), why: null, known: t(isWhole ? EXACTLY : KEPT, values) + out, next: null };
}

/** Of a list that is being read, was never read, or is off. */
function describeUnread(
  { state, reason }: ReadingEnd,
  translator: Translator,
): Pick<OutcomeText, 'label' | 'why'> {
  if (state !== 'never' || reason === null)
    return { label: translator.term(LABELS[state] ?? state), why: reason };
  return { label: translator.t('off'), why: translator.t(FAULTS[reason] ?? NO_IDS) };
}

/** The number of rows in texts that name none. */
const ALL = -1;
const EXACTLY: MessageKey =
  '{rows, plural, =-1 {all rows} =1 {the 1 row} other {all # rows}} of {lists, select, several {their lists} other {the list}}, and no others, {rows, plural, =1 {is} other {are}} in the mirror';

const KEPT_OUT: MessageKey = '; {n, plural, one {# more is} other {# more are}} kept out: forgotten';

/** Where a person has decided that rows older than the list stay. */
const KEPT: MessageKey =
  '{rows, plural, =-1 {all rows} =1 {the 1 row} other {all # rows}} of {lists, select, several {their lists} other {the list}} {rows, plural, =1 {is} other {are}} in the mirror, and older rows that you have decided to keep';

const LABELS: Readonly<Record<string, MessageKey>> = { never: 'never read', running: 'being read' };

interface Doubt {
  readonly why: MessageKey;
  readonly next: MessageKey | null;
}

/** The reasons for which a list that was read to its end is not certified. */
const COMPLETE: Readonly<Record<string, Doubt>> = {
  rows_unseen: {
    why: 'not yet verified: a row may be missing',
    next: 'The next pull tries again to verify that no row is missing.',
  },
  certified_earlier: {
    why: 'the list has changed since it was last certified',
    next: 'The next pull can certify the current list.',
  },
  two_tokens: {
    why: 'the token was changed while the list was read',
    next: 'The next pull reads it with one token.',
  },
  total_differs: {
    why: 'the service reports another number of rows than it lists',
    next: 'If this persists, report it: the service counts rows that it never lists.',
  },
  too_many_rows: {
    why: 'the list showed more rows than the service counts',
    next: 'If this persists, report it: a record left the list and returned, or an answer was outdated.',
  },
  page_size_unproven: {
    why: 'the service does not report the length of the list, and one reading cannot show it',
    next: 'The next pull can verify that no row is missing.',
  },
  no_end: { why: 'the service never returned the last page', next: 'If this persists, report it.' },
  rows_differ: {
    why: 'the mirror and the list have different rows',
    next: 'If this persists, run: bms-sync backfill KIND --all.',
  },
  quarantined: {
    why: 'some records could not be stored as rows',
    next: 'The table issues lists these records.',
  },
  never_listed: {
    why: 'the service returned records that its list does not show yet',
    next: 'The next pull looks for records that only single answers have shown.',
  },
  absences_unproven: {
    why: 'some rows that the list lacks are still in the mirror',
    next: 'The next pull checks them again.',
  },
};

/** A first reading of a long list sees most rows once: rows need not have moved. */
const FIRST: Doubt = {
  why: 'one reading cannot verify that a long list is complete',
  next: 'The next pull can verify it; from then on, deletions are detected.',
};

const UNCONFIRMED: Doubt = {
  why: '{n, plural, one {# row has left the list; its deletion is} other {# rows have left the list; their deletion is}} not confirmed yet',
  next: 'The next pull checks unconfirmed deletions again; bms-sync deletions shows them.',
};

/** Of rows that have left the list, by the state of their deletion. */
const MISSING: Readonly<Record<string, Doubt>> = {
  suspected: UNCONFIRMED,
  approved: UNCONFIRMED,
  held: {
    why: '{n, plural, one {# row has left the list and waits} other {# rows have left the list and wait}} for your decision',
    next: 'Held rows stay until you decide: bms-sync deletions.',
  },
  rejected: {
    why: '{n, plural, one {# row has left the list and stays} other {# rows have left the list and stay}}, as a person decided',
    next: null,
  },
};

function doubtsOf({ reason, isFirst, missing }: ReadingEnd): readonly (Doubt & { readonly n: number })[] {
  const states = Object.entries(reason === 'absences_unproven' ? MISSING : {});
  const left = [...Map.groupBy(states, ([, doubt]) => doubt)].flatMap(([doubt, alike]) => {
    const n = alike.reduce((sum, [state]) => sum + (missing?.[state] ?? 0), 0);
    return n === 0 ? [] : [{ ...doubt, n }];
  });
  const other = isFirst === true && reason === 'rows_unseen' ? FIRST : COMPLETE[reason ?? ''];
  return left.length === 0 && other !== undefined ? [{ ...other, n: 0 }] : left;
}

function describeComplete(end: ReadingEnd, keptOut: string, translator: Translator): OutcomeText {
  const { t } = translator;
  const doubts = doubtsOf(end);
  const n = doubts.reduce((sum, doubt) => sum + doubt.n, 0);
  const next = new Set(doubts.flatMap((doubt) => (doubt.next === null ? [] : t(doubt.next))));
  return {
    label: t('read to its end'),
    why: doubts.map((doubt) => t(doubt.why, { n: doubt.n })).join('; ') || end.reason,
    known:
      t(KNOWN[end.reason ?? ''] ?? LISTED, { rows: end.rows ?? ALL }) +
      (n > 0 ? t(BESIDE, { n }) : '') +
      keptOut,
    next: [...next].join(' ') || null,
  };
}

const LISTED: MessageKey =
  '{rows, plural, =-1 {all rows} =1 {the 1 row} other {all # rows}} that the service listed {rows, plural, =1 {is} other {are}} in the mirror';

const BESIDE: MessageKey = ', and {n, plural, one {# row that has} other {# rows that have}} left the list';

/** The knowledge where not every listed record has become a live row. */
const KNOWN: Readonly<Record<string, MessageKey>> = {
  rows_differ: 'the list was read to its end, but the mirror has too many or too few rows',
  quarantined: 'the list was read to its end, and every record that could be stored is in the mirror',
};

const AGAIN: MessageKey = 'The next pull reads the whole list again.';

/** Of a kind that a service may lack. */
const NO_IDS: MessageKey = 'no record of the list has a usable id';

const FAULTS: Readonly<Record<string, MessageKey>> = {
  not_json: 'the answer was not JSON',
  html: 'the answer was a web page',
  not_utf8: 'the answer was not UTF-8',
  too_deep: 'the answer was nested too deeply',
  success_false: 'the service reported a failure',
  data_not_a_list: 'the answer was not a list',
  bad_meta: 'the page numbers of the service are unreadable',
  empty_body: 'the answer was empty',
  wrong_record: 'the service returned another record',
  cached: 'a cache answered in place of the service',
  page_ignored: 'the service returned another page than requested',
  page_repeated: 'the service returned the same page twice',
  page_grew: 'the size of its pages changed',
  page_resized: 'the size of its pages changed',
  endless: 'the pages never ended',
  empty_pages: 'the list had empty pages before its end',
  page_unread: 'some pages could not be read',
  unauthorized: 'the service refused the token',
  forbidden: 'the token may not read this kind',
  blocked: 'a firewall or proxy in front of the service refused the request',
  not_found: 'the service has no such list',
  redirected: 'the service redirected the request',
  rejected: 'the service rejected the request',
  unreachable: 'the service could not be reached',
  timeout: 'the service took too long to answer',
  too_big: 'an answer was longer than allowed',
  unavailable: 'the service was not available',
  rate_limited: 'the rate limit of the service was reached',
  interrupted: 'the pull was interrupted',
  busy: 'another process was reading it',
  other_source: 'the list belongs to another company',
  excluded_since:
    'the process that read it lets in fields that the mirror excludes: restart bms-sync serve with privacy.exclude',
};

function describeFault(end: ReadingEnd, translator: Translator): OutcomeText {
  const { t } = translator;
  const { reason, isFirst, rows } = end;
  const fault = reason === null ? 'no reason was recorded' : (FAULTS[reason] ?? COMPLETE[reason]?.why);
  const why = fault === undefined ? reason : t(fault);
  const untouched = UNTOUCHED[reason ?? ''];
  if (untouched !== undefined)
    return { label: t(untouched.label), known: t(untouched.known), why, next: null };
  const label = t('not read to its end');
  if (reason === 'unauthorized') return { label, why, known: null, next: t(NEW_TOKEN) };
  const known = rows === 0 ? null : t(READ, { rows: rows ?? ALL });
  const proof =
    isFirst === true
      ? ` ${t('Deletions are detected only after the list has been read completely once.')}`
      : '';
  return { label, why, known, next: `${t(AGAIN)}${proof}` };
}

const NEW_TOKEN: MessageKey = 'Pull again with a token that the service accepts.';

const READ: MessageKey =
  '{rows, plural, =-1 {all rows} =1 {the 1 row} other {all # rows}} that {rows, plural, =1 {was read stays} other {were read stay}} in the mirror';

/** Reasons for which this pull read nothing of a list into the mirror, and need not. */
const UNTOUCHED: Readonly<Record<string, { readonly label: MessageKey; readonly known: MessageKey }>> = {
  busy: { label: 'busy', known: 'another process is reading it into this mirror' },
  other_source: { label: 'refused', known: 'nothing was written to the mirror' },
  excluded_since: { label: 'refused', known: 'nothing was written to the mirror' },
};
