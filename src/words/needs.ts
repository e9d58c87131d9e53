import { kindLabel, pathLabels } from '../catalog/descriptions.ts';
import { REPLACE_TOKEN } from '../catalog/fault-reasons.ts';
import type { Translator, MessageKey } from '../lib/text/translator.ts';
import { sentence } from '../lib/text/text.ts';
import { heldBecause } from './holds.ts';
import { describeOutcome } from './outcome-texts.ts';
import { translateReason } from './stored-reasons.ts';
import { TURN_WRITES_ON, VERDICTS, explain, type VerdictFacts } from './verdicts.ts';

type NeedType = keyof typeof WORDS;

/** The facts that the words of a need are made of. */
type FactsOf<T extends NeedType> = Parameters<(typeof WORDS)[T]>[0];

/** Something that waits for a person, of one of these types. */
export type NeedOf<T extends NeedType = NeedType> = {
  readonly [Type in T]: {
    readonly type: Type;
    /** `since`: a stored instant, or an ISO one. */
    readonly facts: FactsOf<Type> & { readonly since?: string | null };
  };
}[T];

/** A foreign text within one of our sentences. */
export interface Quoted {
  readonly text: string;
  readonly as: 'name' | 'code' | 'english';
}

export interface NeedWords {
  readonly title: string;
  readonly why: readonly (string | Quoted)[];
  /** The cure, unless it is one of the decisions on the need. */
  readonly effect: string;
  readonly page: string;
  readonly command: string;
  readonly since: string | null;
}

type Pieces = string | Quoted | readonly (string | Quoted)[];

interface Wording extends Pick<NeedWords, 'title' | 'page' | 'command'> {
  readonly why: readonly Pieces[];
  readonly effect?: string;
}

interface EntryFacts extends Pick<VerdictFacts, 'kind' | 'recordId' | 'verdict' | 'settlement'> {
  readonly entryId: number;
  readonly operation: string;
}

/**
 * The words of each need, and of some notifications; the facts come from `src/needs`. Those of an older release may lack the
 * optional ones.
 */
const WORDS = {
  'mirror.damaged': ({ reason }: { reason: string }, translator) => ({
    title: translator.t('The mirror can no longer be trusted'),
    why: [english(reason, translator)],
    effect: translator.t('Run bms-sync doctor, and restore a backup: docs/back-up.md shows how.'),
    page: '/',
    command: 'bms-sync doctor',
  }),
  'outbox.frozen': (
    { reason, unknown = [] }: { reason: string; unknown?: readonly string[] },
    translator,
  ) => ({
    title: translator.t('Sends are paused'),
    why: [english(reason, translator), ...(unknown.length > 0 ? [unknownSends(unknown, translator)] : [])],
    effect: translator.t(
      'Check first whether the service already has some of the waiting entries; then resume.',
    ),
    page: '/',
    command: 'bms-sync outbox resume',
  }),
  'outbox.unsent': ({ entries: n }: { entries: number }, { t }) => ({
    title: t('{n, plural, one {# entry waits} other {# entries wait}} to be sent', { n }),
    why: [t(VERDICTS.writes_off), t(TURN_WRITES_ON)],
    page: '/outbox?state=ready',
    command: 'BMS_WRITES=on bms-sync serve',
  }),
  'kind.held': (facts: { kind: string; records: number; why?: string | null }, translator) => ({
    title: translator.t(HELD, { n: facts.records, kind: kindLabel(translator, facts.kind) }),
    why: [sentence(heldBecause(facts.why ?? null, translator))],
    page: '/deletions',
    command: 'bms-sync deletions',
  }),
  'entry.parked': (facts: EntryFacts, translator) => entryWords(facts, 'parked', translator),
  // Needs no decision; receivers are notified.
  'entry.rejected': (facts: EntryFacts, translator) => entryWords(facts, 'rejected', translator),
  // Further parked entries, which are not named.
  'entries.parked': ({ entries: n }: { entries: number }, { t }) => ({
    title: t('{n, plural, one {# more entry is parked} other {# more entries are parked}}', { n }),
    why: [t('Each needs a decision.')],
    page: '/outbox?state=parked',
    command: 'bms-sync outbox',
  }),
  'record.twins': (facts: { kind: string; recordId: string; otherId: string }, translator) => ({
    title: translator.t(TWINS, { ...facts, kind: kindLabel(translator, facts.kind) }),
    why: [
      translator.t(
        'bms-sync created the first one. Change the natural key (such as the code) of one of them in the service: the next pull then closes the issue.',
      ),
    ],
    page: `/issues?kind=${facts.kind}&code=twins`,
    command: `bms-sync record ${facts.kind} ${facts.recordId}`,
  }),
  'kind.blocked': (
    facts: { kind: string; kinds?: readonly string[]; reason: string; entryId?: number | null },
    translator,
  ) => ({
    title: translator.t('Writes of {kind} are refused', {
      kind: valuesOf(facts.kinds ?? [facts.kind], translator).names,
    }),
    why: [
      translator.t<Quoted>('The user of this token lacks the right in the service ({reason}).', {
        reason: { text: facts.reason, as: 'code' },
      }),
      ...(typeof facts.entryId === 'number'
        ? [translator.t('Entry {id} was refused.', { id: facts.entryId })]
        : []),
    ],
    effect: translator.t(
      'Grant that user the right in the service, or use another token. bms-sync retries every few minutes.',
    ),
    page: '/',
    command: 'bms-sync outbox',
  }),
  // No kinds: only entries wait.
  'token.refused': ({ kinds }: { kinds?: readonly string[] }, translator) => ({
    title: translator.t('The service refuses the token'),
    why: [
      kinds === undefined
        ? translator.t('No list can be read.')
        : kinds.length === 0
          ? translator.t(VERDICTS.token_refused)
          : sentence(translator.t(UNREAD, valuesOf(kinds, translator))),
    ],
    effect: translator.t(REPLACE_TOKEN),
    page: '/',
    command: 'bms-sync doctor',
  }),
  'kind.unread': (facts: { kinds: readonly string[]; state: string; reason: string | null }, translator) => ({
    title: translator.t(UNREAD, valuesOf(facts.kinds, translator)),
    why: [sentence(describeOutcome({ ...facts, missing: null }, translator).why ?? facts.state)],
    ...wayTo(facts.kinds, translator),
  }),
  'kind.stale': (
    { kind = '', kinds = [kind], since }: { kinds?: readonly string[]; kind?: string; since: string | null },
    translator,
  ) => ({
    title: translator.t(STALE, valuesOf(kinds, translator)),
    why: [
      translator.t(
        since === null ? 'It was never read to its end.' : 'Its scheduled pulls failed or did not run.',
      ),
    ],
    ...wayTo(kinds, translator),
  }),
  'kind.differs': ({ kind, records: n }: { kind: string; records: number }, translator) => ({
    title: translator.t(DIFFERS, { n, kind: kindLabel(translator, kind) }),
    why: [translator.t('The last verify found this, and no backfill has read as many records since.')],
    effect: translator.t('Verify names the records, and the backfill that repairs them.'),
    page: `/kinds/${kind}`,
    command: `bms-sync verify ${kind}`,
  }),
  'field.volatile': ({ fields, setting }: { fields: string; setting: string }, translator) => ({
    title: translator.t('{n, plural, one {# field changes} other {# fields change}} with every sweep', {
      n: fields.split(', ').length,
    }),
    why: [
      translator.t<Quoted>('Most records have a new value in each sweep, and each is an event: {names}.', {
        names: { text: pathLabels(fields, translator), as: 'name' },
      }),
      translator.t<Quoted>('Add to the settings: {setting}', {
        setting: { text: setting, as: 'code' },
      }),
    ],
    effect: translator.t('Their values then stay up to date without creating events.'),
    page: '/changes',
    command: 'bms-sync changes',
  }),
  'field.not_shown': ({ fields, entries: n }: { fields: string; entries: number }, translator) => ({
    title: translator.t(
      '{n, plural, one {# entry waits} other {# entries wait}} for fields that the service does not show',
      { n },
    ),
    why: [
      translator.t<Quoted>('The service does not show: {names}.', {
        names: { text: pathLabels(fields, translator), as: 'name' },
      }),
    ],
    effect: translator.t(
      'They are sent once it is shown again. If it was removed for good, abandon them; push creates with --allow-double.',
    ),
    page: '/outbox',
    command: 'bms-sync outbox',
  }),
  'webhook.disabled': (facts: { name: string; reason: string | null; pending: number }, { t }) => ({
    title: t('The endpoint {name} is disabled', { name: facts.name }),
    why: [t(DISABLED[facts.reason ?? ''] ?? 'Nothing is sent to it.'), ...waiting(facts.pending, t)],
    page: `/webhooks?endpoint=${facts.name}`,
    command: 'bms-sync webhooks',
  }),
  'webhook.failing': (facts: { name: string; failures: number; pending: number }, { t }) => ({
    title: t('The endpoint {name} accepts no deliveries', { name: facts.name }),
    why: [
      t('{n, plural, one {# attempt has} other {# attempts have}} failed in a row.', {
        n: facts.failures,
      }),
      ...waiting(facts.pending, t),
    ],
    page: `/webhooks?endpoint=${facts.name}`,
    command: `bms-sync webhooks test ${facts.name}`,
  }),
  'webhook.test': (_facts: object, { t }) => ({
    title: t('This is a test of bms-sync: the endpoint works'),
    why: [],
    page: '/webhooks',
    command: 'bms-sync webhooks',
  }),
  'plan.waiting': (
    facts: { planId: number; createdBy: string; records: number; kind: string; origin: string },
    translator,
  ) => ({
    title: translator.t('Plan {id} waits for approval', { id: facts.planId }),
    why: [
      translator.t(PLANNED, {
        who: facts.createdBy,
        n: facts.records,
        kind: kindLabel(translator, facts.kind),
        origin: translateReason(facts.origin, translator),
      }),
    ],
    effect: translator.t('Review its cells first. Once approved, it can be applied.'),
    page: `/plans/${facts.planId}`,
    command: `bms-sync approve ${facts.planId}`,
  }),
} satisfies Readonly<Record<string, (facts: never, translator: Translator) => Wording>>;

/** The same by the type of the need. */
const WORDS_BY_TYPE: { readonly [T in NeedType]: (facts: FactsOf<T>, translator: Translator) => Wording } =
  WORDS;

const ENTRY_TITLES = {
  parked: 'Entry {id} is parked: {operation} of {record}',
  rejected: 'Entry {id} is rejected: {operation} of {record}',
} as const satisfies Record<string, MessageKey>;

function entryWords(facts: EntryFacts, state: keyof typeof ENTRY_TITLES, translator: Translator) {
  const { entryId: id, kind, operation: name, recordId } = facts;
  const operation = translator.term(name);
  const record =
    recordId === null ? kindLabel(translator, kind) : `${kindLabel(translator, kind, 'one')} ${recordId}`;
  return {
    title: translator.t(ENTRY_TITLES[state], { id, operation, record }),
    why: [explain({ ...facts, id, state }, translator).meaning],
    page: `/outbox/${id}`,
    command: `bms-sync outbox show ${id}`,
  };
}

const TWINS: MessageKey = 'The records {recordId} and {otherId} of {kind} may be the same';

const HELD: MessageKey =
  '{n, plural, one {# deletion of {kind} is held} other {# deletions of {kind} are held}}';

const DIFFERS: MessageKey =
  '{n, plural, one {# record of {kind} differs from the service} other {# records of {kind} differ from the service}}';

const STALE: MessageKey =
  '{n, plural, one {The list of {names} is stale} other {# lists are stale: {names}}}';

const PLANNED: MessageKey =
  '{who} wants to change {n, plural, one {# record} other {# records}} of {kind}, from {origin}.';

const UNREAD: MessageKey =
  '{n, plural, one {The list of {names} was not read to its end} other {# lists were not read to their end: {names}}}';

const waiting = (n: number, t: Translator['t']): readonly string[] =>
  n === 0 ? [] : [t('{n, plural, one {# delivery waits} other {# deliveries wait}} for it.', { n })];

const DISABLED: Readonly<Record<string, MessageKey>> = {
  gone: 'It answered 410 Gone.',
  failing: 'No delivery accepted for five days.',
};

const valuesOf = (kinds: readonly string[], translator: Translator) => ({
  n: kinds.length,
  names: kinds.map((kind) => kindLabel(translator, kind)).join(', '),
});

const wayTo = (kinds: readonly string[], translator: Translator) => ({
  effect: translator.t('Pull reads the list as soon as a background service is free.'),
  page: kinds.length === 1 ? `/kinds/${kinds.join('')}` : '/',
  command: `bms-sync pull ${kinds.join(' ')}`,
});

/** Translates a reason that is stored as an English sentence, if the translation is known. */
function english(reason: string, translator: Translator): string | Quoted {
  const translated = translateReason(reason, translator);
  const isTranslated = translator.language === 'en' || translated !== reason;
  return isTranslated ? sentence(translated) : { text: sentence(reason), as: 'english' };
}

export const hasWords = (type: string): type is NeedType => Object.hasOwn(WORDS, type);

/** Puts a need into words. @param names The names of some of the records that it is about. */
export function needWords<T extends NeedType>(
  { type, facts }: NeedOf<T>,
  translator: Translator,
  names: readonly string[] = [],
): NeedWords {
  const { why, effect = '', ...words } = WORDS_BY_TYPE[type](facts, translator);
  const about =
    names.length === 0 ? [] : [aboutRecords(names, 'records' in facts ? facts.records : 0, translator)];
  const sentences = [...why, ...about].flatMap((pieces, at) => (at === 0 ? pieces : [' ', pieces].flat()));
  return { ...words, why: sentences, effect, since: facts.since ?? null };
}

function aboutRecords(names: readonly string[], records: number, translator: Translator): Pieces {
  const more = Math.max(0, records - names.length);
  return translator.t<Quoted>(ABOUT, { names: { text: names.join(', '), as: 'name' }, more });
}

const ABOUT: MessageKey = '({names}{more, plural, =0 {} one { and # other} other { and # others}})';

function unknownSends(sends: readonly string[], translator: Translator): Pieces {
  const named = sends.slice(0, SENDS_NAMED);
  const more = sends.length - named.length;
  return translator.t<Quoted>(UNKNOWN, { sends: { text: named.join('; '), as: 'code' }, more });
}

const SENDS_NAMED = 20;
const UNKNOWN: MessageKey =
  'Unknown to this database: {sends}{more, plural, =0 {} one { and # other} other { and # others}}. These are numbers of the database before it went back.';

export const plainWhy = (words: Pick<NeedWords, 'why'>): string =>
  words.why.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
