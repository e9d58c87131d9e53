import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import { REPLACE_TOKEN } from '../catalog/fault-reasons.ts';
import { TECHNICAL, type Translator, type MessageKey } from '../lib/text/translator.ts';

/** The members of an entry that its words depend on. */
export interface VerdictFacts {
  readonly id: number;
  readonly kind: string;
  readonly recordId: string | null;
  readonly state: keyof typeof BY_STATE;
  readonly verdict: string | null;
  readonly settlement?: NotedFacts;
  readonly updatedAt?: string;
}

/** The notes of an entry that a person should know. */
interface NotedFacts {
  readonly ids?: readonly string[] | undefined;
  readonly unproven?: readonly string[] | undefined;
  readonly hurried?: { readonly by: string; readonly at: string } | undefined;
  readonly resendAt?: string | undefined;
  readonly isSoon?: boolean | undefined;
  readonly stop?: 'paused' | 'writes_off' | undefined;
  readonly awaits?:
    | { readonly since: string; readonly why: string; readonly records?: readonly string[] | undefined }
    | undefined;
}

type Step = (entry: VerdictFacts) => string;

const retry = (facts: VerdictFacts): string => `To send it again: bms-sync outbox retry ${facts.id}`;
const double = (facts: VerdictFacts): string =>
  `To make a second record all the same: bms-sync outbox retry ${facts.id} --allow-double`;
const isSame = (facts: VerdictFacts): string =>
  `If it is the same record, changed by another user: bms-sync outbox retry ${facts.id}`;
const isBack = (facts: VerdictFacts): string =>
  `If the record is back, bms-sync asks whether it is the same one: bms-sync outbox retry ${facts.id}`;
const hurry = (facts: VerdictFacts): string =>
  `To wait no longer than for one certified sweep: bms-sync outbox retry ${facts.id} --now`;
const overwrite = (facts: VerdictFacts): string =>
  `To send yours over the other user's values: bms-sync outbox retry ${facts.id} --overwrite`;
const abandon = (facts: VerdictFacts): string => `To abandon it: bms-sync outbox abandon ${facts.id}`;
const keepTheirs = (facts: VerdictFacts): string =>
  `To keep the other user's values: bms-sync outbox abandon ${facts.id}`;
const adopt = ({ id, settlement: { ids = [] } = {} }: VerdictFacts): string =>
  `If a record of the mirror is it: bms-sync outbox adopt ${id} ${/^\d+$/.test(ids.join()) ? ids.join() : 'RECORD'}`;
const pull = (facts: VerdictFacts): string => `To read the list again: bms-sync pull ${facts.kind}`;
const pushAgain = ({ id, kind, recordId, verdict }: VerdictFacts): string =>
  `To send something else instead: bms-sync outbox abandon ${id}, then bms-sync push ` +
  (recordId === null
    ? `create ${kind} …${verdict === 'field_not_shown' ? ' --allow-double' : ''}`
    : `update ${kind} ${recordId} …`);

/** A process at work keeps the settings with which it started, and refuses a second one beside it. */
export const TURN_WRITES_ON: MessageKey =
  'Stop bms-sync serve if it is running, then start it with BMS_WRITES=on.';

/** What every verdict means that an entry can have, in the order in which an entry may meet them. */
export const VERDICTS = {
  writes_off:
    'Nothing is sent: no bms-sync serve is running with writes on (outbound.writes, BMS_WRITES=on).',
  paused: 'Sends are paused until a user resumes them.',
  interrupted:
    'The process that was sending it has ended. The next bms-sync serve with writes on looks for it before anything is sent again.',
  waits: 'An earlier entry for the same record, or with the same natural key, comes first.',
  awaits_sweep:
    'A new sweep must show what the service already has before the create is sent; it is requested.',
  kind_blocked:
    'The user of this token may not write this kind in the service (403). bms-sync retries in five minutes, and when serve starts.',
  unreachable: 'The service could not be reached; bms-sync retries automatically.',
  token_refused: 'The service refuses the token (401): nothing is sent until it accepts one.',
  busy: 'The service asked bms-sync to wait (429); the entry is sent again automatically.',
  ambiguous: 'Sent, outcome unknown: the next sweeps look for it before anything is sent again.',
  no_answer: 'Sent many times, no answer has confirmed it, and the record does not show the change.',
  looking: 'Sent, outcome unknown, and not found so far; bms-sync searches until the time limit.',
  found:
    'Sent, outcome unknown, and not decided yet: the mirror has what may be it ({ids}), which adopting it confirms. Last looked for or sent at {at}.',
  retry: 'A user requested a retry: bms-sync searches once more and sends it again if it is not there.',
  conflict: 'Another user changed the same fields since the base of this update was read; nothing was sent.',
  field_not_shown:
    'The service does not show a field of this entry: nothing would prove the update, or show a record that the create would double. bms-sync looks every hour, and sends nothing before.',
  other_record:
    'The id seems to belong to another record: the one to update was deleted, or its key and more have changed. Nothing more is sent.',
  no_such_record: 'The service has no record with this id, and no list ever showed one; nothing was sent.',
  forbidden:
    'The service refuses this record (403): it may be locked there, or closed to the user of this token.',
  gone: 'The record to update no longer exists in the service; it is not created again.',
  twins: 'More than one record matches the create exactly, or the only match was made by another entry.',
  look_alike:
    'It may be in the service: a new record there is a possible match, or could not be stored as a row.',
  existed:
    'Another record has its natural key, or one that could not be stored may have it, or the service answered with a record that was there.',
  lost_twice:
    'Sent twice, no answer has confirmed it, and no record in the service matches it: something prevents it from arriving.',
  alters_keys:
    'No record in the service matches it. But the service changes the keys of this kind, so the record may be there unrecognised.',
  other_source: 'It was sent to the service that this mirror copied before: no list can show its outcome.',
  repeats: 'Equal records are allowed in this kind, so nothing shows whether one of them is this one.',
  no_certificate:
    'The time limit has passed and no sweep could certify the list: nobody knows whether the entry arrived.',
  not_named:
    'The service confirmed the create without naming the record, and the lists do not show it for certain. It is never sent again.',
  not_applied: 'The service accepted the update, but some fields did not change.',
  invalid: 'It does not match the catalogue or the settings; the result has the reason.',
  over: 'What it was parked or refused for is no longer so, as the mirror shows.',
  key_taken: 'Its idempotency key belongs to an entry that ended long ago; the result names that entry.',
  service_refused: 'The service refused it; the result has its message.',
  sent: 'Sent and confirmed by the service.',
  already_so: 'The service already had these values; nothing was sent.',
  altered: 'Sent; the service created the record with other values than were sent; the result has them.',
  adopted: 'The record that it made was found in the service, or named by a user.',
  resent: 'The first send was lost; it was sent again, and the service accepted it.',
} as const satisfies Record<string, MessageKey>;

type VerdictName = keyof typeof VERDICTS;

/** What it means while the entry continues by itself, if that differs; then no action is needed. */
const ON_ITS_WAY: { readonly [name in VerdictName]?: MessageKey } = {
  no_answer: 'Sent, and no answer has confirmed it: the record is read before anything is sent again.',
  forbidden:
    'The service refuses this record (403). bms-sync retries in five minutes, and after the next successful write.',
  gone: 'The service does not show the record to update; bms-sync searches once more.',
  not_applied: 'The service accepted the update, but the record does not show it: it is sent once more.',
};

/** What a person can do; `NEXT_BY_STATE` for the others. */
const NEXT: { readonly [name in VerdictName]?: readonly Step[] } = {
  writes_off: [() => TURN_WRITES_ON],
  paused: [() => 'To see why: bms-sync status. After checking: bms-sync outbox resume'],
  interrupted: [abandon],
  waits: [() => 'To see whether that one needs you: bms-sync outbox'],
  kind_blocked: [() => 'Check what the user of the token may write in the service.'],
  unreachable: [() => 'If it persists: bms-sync doctor'],
  token_refused: [() => `${REPLACE_TOKEN} The entry is then sent.`],
  retry: [adopt],
  conflict: [overwrite, keepTheirs, pushAgain],
  field_not_shown: [pushAgain],
  other_record: [isSame, pushAgain, abandon],
  gone: [isBack, abandon],
  existed: [adopt, double, abandon],
  no_such_record: [abandon], // A retry, or the same push, would name the wrong id again.
  no_certificate: [pull, adopt, retry, abandon],
  not_named: [pull, adopt, abandon],
  not_applied: [retry, pushAgain, abandon],
  invalid: [pushAgain],
  over: [retry, abandon],
  key_taken: [pushAgain],
  service_refused: [pushAgain, retry],
};

/** The text for an entry without a verdict. */
const BY_STATE = {
  ready: 'It waits for its turn.',
  sending: 'It is being sent.',
  unsettled: 'Sent, outcome unknown: bms-sync looks for it.',
  done: 'It is done.',
  parked: 'It needs a decision.',
  rejected: 'It was refused.',
  abandoned: 'A user abandoned it; nothing more is sent.',
} as const satisfies Record<string, MessageKey>;

/** What can be done where the verdict names nothing else. */
const NEXT_BY_STATE: { readonly [state in keyof typeof BY_STATE]?: readonly Step[] } = {
  unsettled: [adopt, hurry],
  parked: [adopt, retry, abandon],
  rejected: [adopt, retry, abandon],
};

/** Explains in plain words the state of an entry, and, in English, the actions open to a person: none if none is needed. */
export function explain(entry: VerdictFacts, translator = TECHNICAL) {
  const { meaning, next } = verdictOf(entry);
  const notes = [awaitedBy, resendTime, unprovenIn, stoppedBy].map((note) => note(entry, translator));
  const { settlement, updatedAt: at } = entry;
  const found = { ids: settlement?.ids?.join(', ') ?? '', at: at === undefined ? '' : translator.date(at) };
  return {
    meaning: [translator.t(meaning, found), ...notes].filter((part) => part !== null).join(' '),
    next: next.map((step) => step(entry)),
  };
}

const stoppedBy = ({ settlement: { stop } = {} }: VerdictFacts, { t }: Translator): string | null =>
  stop === undefined ? null : t(VERDICTS[stop]);

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

/** Why no reading can be enough: the list is known once a person has decided. */
export const HELD_ROWS = 'rows that have left the list wait for a decision';
/** Where a reading that was asked for may be enough. */
export const NEXT_READING: MessageKey = 'the next reading has not ended yet';
const DECISION_FIRST: MessageKey =
  'Waiting since {since} for your decision on {kind} that have left the list: bms-sync deletions.';

/** The reading of its kind that an entry waits for: since when, and why the latest one was not enough; null if it waits for none. */
export function awaitedBy(facts: VerdictFacts, translator = TECHNICAL): string | null {
  if (facts.settlement?.awaits === undefined || !['ready', 'unsettled', 'parked'].includes(facts.state))
    return null;
  const { t, term, date } = translator;
  const { since, why, records = [] } = facts.settlement.awaits;
  const values = { kind: kindLabel(translator, facts.kind), since: date(since), why: term(why) };
  const waited = t(
    why === HELD_ROWS ? DECISION_FIRST : 'Waiting for a reading of {kind} since {since}: {why}.',
    values,
  );
  if (records.length === 0) return waited;
  return `${waited} ${t('The records in question: {ids}.', { ids: records.join(', ') })}`;
}

const CHOICES = {
  adopt: [adopt],
  retry: [retry, isSame, isBack],
  overwrite: [overwrite],
  'create another': [double],
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

function verdictOf(facts: VerdictFacts): Readonly<{ meaning: MessageKey; next: readonly Step[] }> {
  const { state, verdict, settlement } = facts;
  const name = verdict !== null && isVerdict(verdict) ? verdict : null;
  const onItsWay = name !== null && state === 'ready' ? ON_ITS_WAY[name] : undefined;
  if (onItsWay !== undefined) return { meaning: onItsWay, next: [] };
  const isOver = (step: Step): boolean =>
    (step === hurry && settlement?.hurried !== undefined) || (step === adopt && facts.recordId !== null);
  const next = (name === null ? undefined : NEXT[name]) ?? NEXT_BY_STATE[state] ?? [];
  const meaning = name === null ? BY_STATE[state] : VERDICTS[name];
  if (state === 'done' || state === 'abandoned') return { meaning, next: [] }; // No decision is left.
  return { meaning, next: next.filter((step) => !isOver(step)) };
}

const isVerdict = (text: string): text is VerdictName => Object.hasOwn(VERDICTS, text);
