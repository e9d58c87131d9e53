import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import { REPLACE_TOKEN } from '../catalog/fault-reasons.ts';
import { TECHNICAL, type Translator, type MessageKey } from '../lib/text/translator.ts';

interface Explanation {
  readonly meaning: string;
  /** The actions open to a person; absent if no action is needed. */
  readonly next: readonly string[];
}

/** The members of an entry that its words depend on. */
interface VerdictFacts {
  readonly id: number;
  readonly kind: string;
  readonly recordId: string | null;
  readonly state: keyof typeof BY_STATE;
  readonly verdict: string | null;
  readonly settlement?: NotedFacts;
  readonly updatedAt?: string;
}

/** The notes of an entry that a person should know. */
export interface NotedFacts {
  readonly ids?: readonly string[] | undefined;
  readonly unproven?: readonly string[] | undefined;
  readonly hurried?: { readonly by: string; readonly at: string } | undefined;
  readonly resendAt?: string | undefined;
  readonly isSoon?: boolean | undefined;
  readonly awaits?:
    | { readonly since: string; readonly why: string; readonly records?: readonly string[] | undefined }
    | undefined;
}

interface Verdict {
  readonly meaning: MessageKey;
  /** The meaning while the entry continues by itself, if that differs; then no action is needed. */
  readonly onItsWay?: MessageKey;
  readonly next?: readonly Step[];
}

type Step = (entry: VerdictFacts) => string;

const retry = (facts: VerdictFacts): string => `To send it again: bms-sync outbox retry ${facts.id}`;
const isSame = (facts: VerdictFacts): string =>
  `If it is the same record, changed by another user: bms-sync outbox retry ${facts.id}`;
const hurry = (facts: VerdictFacts): string =>
  `To wait no longer than for one certified sweep: bms-sync outbox retry ${facts.id} --now`;
const overwrite = (facts: VerdictFacts): string =>
  `To send yours over the other user's values: bms-sync outbox retry ${facts.id} --overwrite`;
const abandon = (facts: VerdictFacts): string => `To abandon it: bms-sync outbox abandon ${facts.id}`;
const keepTheirs = (facts: VerdictFacts): string =>
  `To keep the other user's values: bms-sync outbox abandon ${facts.id}`;
const adopt = ({ id, settlement: { ids = [] } = {} }: VerdictFacts): string =>
  `If a record of the mirror is it: bms-sync outbox adopt ${id} ${ids.length === 1 ? ids.join() : 'RECORD'}`;
const pull = (facts: VerdictFacts): string => `To read the list again: bms-sync pull ${facts.kind}`;
const pushAgain = ({ id, kind, recordId }: VerdictFacts): string =>
  `To send something else instead: bms-sync outbox abandon ${id}, then bms-sync push ` +
  (recordId === null ? `create ${kind} …` : `update ${kind} ${recordId} …`);

/** A process at work keeps the settings with which it started, and refuses a second one beside it. */
export const TURN_WRITES_ON: MessageKey =
  'Stop bms-sync serve if it is running, then start it with BMS_WRITES=on.';

/** Every verdict that an entry can have, in the order in which an entry may meet them. */
export const VERDICTS = {
  writes_off: {
    meaning: 'Nothing is sent: no bms-sync serve is running with writes on (outbound.writes, BMS_WRITES=on).',
    next: [() => TURN_WRITES_ON],
  },
  paused: {
    meaning: 'Sends are paused until a user resumes them.',
    next: [() => 'To see why: bms-sync status. After checking: bms-sync outbox resume'],
  },
  interrupted: {
    meaning:
      'The process that was sending it has ended. The next bms-sync serve with writes on looks for it before anything is sent again.',
    next: [abandon],
  },
  waits: {
    meaning: 'An earlier entry for the same record, or with the same natural key, comes first.',
    next: [() => 'To see whether that one needs you: bms-sync outbox'],
  },
  awaits_sweep: {
    meaning: 'A new sweep must show what the service already has before the create is sent; it is requested.',
  },
  kind_blocked: {
    meaning:
      'The user of this token may not write this kind in the service (403). bms-sync retries in five minutes, and when serve starts.',
    next: [() => 'Check what the user of the token may write in the service.'],
  },
  unreachable: {
    meaning: 'The service could not be reached; bms-sync retries automatically.',
    next: [() => 'If it persists: bms-sync doctor'],
  },
  token_refused: {
    meaning: 'The service refuses the token (401): nothing is sent until it accepts one.',
    next: [() => `${REPLACE_TOKEN} The entry is then sent.`],
  },
  busy: { meaning: 'The service asked bms-sync to wait (429); the entry is sent again automatically.' },
  ambiguous: {
    meaning: 'Sent, outcome unknown: the next sweeps look for it before anything is sent again.',
  },
  no_answer: {
    meaning: 'Sent many times, no answer has confirmed it, and the record does not show the change.',
    onItsWay: 'Sent, and no answer has confirmed it: the record is read before anything is sent again.',
  },
  looking: {
    meaning: 'Sent, outcome unknown, and not found so far; bms-sync searches until the time limit.',
  },
  found: {
    meaning:
      'Sent, outcome unknown, and not decided yet: the mirror has what may be it ({ids}), which adopting it confirms. Last looked for or sent at {at}.',
  },
  retry: {
    meaning: 'A user requested a retry: bms-sync searches once more and sends it again if it is not there.',
    next: [adopt],
  },
  conflict: {
    meaning: 'Another user changed the same fields since the base of this update was read; nothing was sent.',
    next: [overwrite, keepTheirs, pushAgain],
  },
  field_not_shown: {
    meaning:
      'The service no longer shows a field of this update, so nothing would prove it. bms-sync looks every hour, and sends nothing before.',
    next: [pushAgain],
  },
  other_record: {
    meaning:
      'The id seems to belong to another record: the one to update was deleted, or its key and more have changed. Nothing more is sent.',
    next: [isSame, pushAgain, abandon],
  },
  no_such_record: {
    meaning: 'The service has no record with this id, and no list ever showed one; nothing was sent.',
    next: [abandon], // A retry, or the same push, would name the wrong id again.
  },
  forbidden: {
    meaning: 'The service refuses this record (403), but lets the user of this token write or read others.',
    onItsWay:
      'The service refuses this record (403). bms-sync retries in five minutes, and after the next successful write.',
  },
  gone: {
    meaning: 'The record to update no longer exists in the service; it is not created again.',
    onItsWay: 'The service does not show the record to update; bms-sync searches once more.',
  },
  twins: {
    meaning: 'More than one record matches the create exactly, or the only match was made by another entry.',
  },
  look_alike: {
    meaning:
      'It may be in the service: a new record there is a possible match, or could not be stored as a row.',
  },
  existed: {
    meaning:
      'A record with the same natural key existed before the send, or the service answered with such a record.',
  },
  lost_twice: {
    meaning:
      'Sent twice, no answer has confirmed it, and no record in the service matches it: something prevents it from arriving.',
  },
  alters_keys: {
    meaning:
      'No record in the service matches it. But the service changes the keys of this kind, so the record may be there unrecognised.',
  },
  other_source: {
    meaning: 'It was sent to the service that this mirror copied before: no list can show its outcome.',
  },
  repeats: {
    meaning: 'Equal records are allowed in this kind, so nothing shows whether one of them is this one.',
  },
  no_certificate: {
    meaning:
      'The time limit has passed and no sweep could certify the list: nobody knows whether the entry arrived.',
    next: [pull, adopt, retry, abandon],
  },
  not_named: {
    meaning:
      'The service confirmed the create without naming the record, and the lists do not show it for certain. It is never sent again.',
    next: [pull, adopt, abandon],
  },
  not_applied: {
    meaning: 'The service accepted the update, but some fields did not change.',
    onItsWay: 'The service accepted the update, but the record does not show it: it is sent once more.',
    next: [retry, pushAgain, abandon],
  },
  invalid: {
    meaning: 'It does not match the catalogue or the settings; the result has the reason.',
    next: [pushAgain],
  },
  key_taken: {
    meaning: 'Its idempotency key belongs to an entry that ended long ago; the result names that entry.',
    next: [pushAgain],
  },
  service_refused: {
    meaning: 'The service refused it; the result has its message.',
    next: [pushAgain, retry],
  },
  sent: { meaning: 'Sent and confirmed by the service.' },
  already_so: { meaning: 'The service already had these values; nothing was sent.' },
  altered: {
    meaning: 'Sent; the service created the record with other values than were sent; the result has them.',
  },
  adopted: { meaning: 'The record that it made was found in the service, or named by a user.' },
  resent: { meaning: 'The first send was lost; it was sent again, and the service accepted it.' },
} as const satisfies Record<string, Verdict>;

const BY_NAME: ReadonlyMap<string, Verdict> = new Map(Object.entries(VERDICTS));

/** The text for an entry without a verdict, and what can be done where its verdict names nothing else. */
const BY_STATE = {
  ready: { meaning: 'It waits for its turn.' },
  sending: { meaning: 'It is being sent.' },
  unsettled: { meaning: 'Sent, outcome unknown: bms-sync looks for it.', next: [adopt, hurry] },
  done: { meaning: 'It is done.' },
  parked: { meaning: 'It needs a decision.', next: [adopt, retry, abandon] },
  rejected: { meaning: 'It was refused.', next: [adopt, retry, abandon] },
  abandoned: { meaning: 'A user abandoned it; nothing more is sent.' },
} as const satisfies Record<string, Verdict>;

/** Explains in plain words the state of an entry, and, in English, the actions open to a person. */
export function explain(entry: VerdictFacts, translator = TECHNICAL): Explanation {
  const { meaning, next } = verdictOf(entry);
  const notes = [awaitedBy, resendTime, unprovenIn].map((note) => note(entry, translator));
  const { settlement, updatedAt: at } = entry;
  const found = { ids: settlement?.ids?.join(', ') ?? '', at: at === undefined ? '' : translator.date(at) };
  return {
    meaning: [translator.t(meaning, found), ...notes].filter((part) => part !== null).join(' '),
    next: next.map((step) => step(entry)),
  };
}

/** Which fields of a finished update may be another user's work; null where all are proven to be ours. */
function unprovenIn(facts: VerdictFacts, translator: Translator): string | null {
  const { unproven = [] } = facts.settlement ?? {};
  if (facts.state !== 'done' || unproven.length === 0) return null;
  const fields = unproven.map((name) => fieldLabel(translator, facts.kind, name)).join(', ');
  return translator.t('No answer came: another user may have written the same values to {fields}.', {
    fields,
  });
}

/** When a create with an unknown outcome is sent again, and who has ended the waiting. */
function resendTime({ state, settlement = {} }: VerdictFacts, { t, date }: Translator): string | null {
  const { hurried, resendAt, isSoon } = settlement;
  if (state !== 'unsettled') return null;
  if (hurried !== undefined)
    return t(
      '{who} has ended the waiting at {at}: it is sent again after a certified sweep that shows no new record, and not before outbound.settleSeconds after it was sent.',
      { who: hurried.by, at: date(hurried.at) },
    );
  if (resendAt === undefined) return null;
  const time = t('If no record can be it, it is sent again at {at} at the earliest.', { at: date(resendAt) });
  return isSoon === true ? `${time} ${t(WHY_SOON)}` : time;
}

const WHY_SOON: MessageKey =
  'That is soon: the service itself answered that it failed, and its lists have shown all our recent creates of this kind at once. Time counts only while the list can be verified.';

/** The reading of its kind that an entry waits for: since when, and why the latest one was not enough; null if it waits for none. */
export function awaitedBy(facts: VerdictFacts, translator = TECHNICAL): string | null {
  if (facts.settlement?.awaits === undefined || !['ready', 'unsettled', 'parked'].includes(facts.state))
    return null;
  const { t, term, date } = translator;
  const { since, why, records = [] } = facts.settlement.awaits;
  const values = { kind: kindLabel(translator, facts.kind), since: date(since), why: term(why) };
  const waited = t('Waiting for a reading of {kind} since {since}: {why}.', values);
  if (records.length === 0) return waited;
  return `${waited} ${t('The records in question: {ids}.', { ids: records.join(', ') })}`;
}

const CHOICES = {
  adopt: [adopt],
  retry: [retry, isSame],
  overwrite: [overwrite],
  'stop waiting': [hurry],
  abandon: [abandon, keepTheirs, pushAgain],
} as const;

type EntryChoice = keyof typeof CHOICES;

/** The decisions that an entry waits for; none while it continues by itself. */
export function choicesOf(entry: VerdictFacts): readonly EntryChoice[] {
  const { next } = verdictOf(entry);
  const all = Object.entries(CHOICES) as [EntryChoice, readonly Step[]][];
  return all.filter(([, steps]) => steps.some((step) => next.includes(step))).map(([choice]) => choice);
}

function verdictOf(facts: VerdictFacts): {
  readonly meaning: MessageKey;
  readonly next: readonly Step[];
} {
  const { state, verdict } = facts;
  const byName = verdict === null ? undefined : BY_NAME.get(verdict);
  const byState: Verdict = BY_STATE[state];
  const { meaning, onItsWay, next = byState.next ?? [] }: Verdict = byName ?? byState;
  if (onItsWay !== undefined && state === 'ready') return { meaning: onItsWay, next: [] };
  const isOver = (step: Step): boolean =>
    (step === hurry && facts.settlement?.hurried !== undefined) ||
    (step === adopt && facts.recordId !== null);
  return { meaning, next: next.filter((step) => !isOver(step)) };
}
