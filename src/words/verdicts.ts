import { translatorFor, type Translator, type MessageKey } from '../lib/text/translator.ts';

/** The explanation of an entry's state, for a person. */
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
}

/** What an entry has noted that a person should know. */
export interface NotedFacts {
  readonly unproven?: readonly string[] | undefined;
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

/** Writes an action that is open to a person. */
type Step = (entry: VerdictFacts) => string;

const served: Step = () => 'Nothing, as long as bms-sync serve runs.';
const retry = (facts: VerdictFacts): string => `Send it again: bms-sync outbox retry ${facts.id}`;
const abandon = (facts: VerdictFacts): string => `Give it up: bms-sync outbox abandon ${facts.id}`;
const adopt = (facts: VerdictFacts): string =>
  `One of the records is it: bms-sync outbox adopt ${facts.id} RECORD (the candidates are in the result)`;
const pull = (facts: VerdictFacts): string => `Read the list again: bms-sync pull ${facts.kind}`;
const pushAnew = ({ id, kind, recordId }: VerdictFacts): string =>
  `Send something else instead: bms-sync outbox abandon ${id}, then bms-sync push ` +
  (recordId === null ? `create ${kind} …` : `update ${kind} ${recordId} …`);

/** Every verdict that an entry can have, in the order in which an entry may meet them. */
export const VERDICTS = {
  waits: {
    meaning: 'An earlier entry for the same record, or with the same natural key, comes first.',
    next: [() => 'Nothing, unless that one needs you: bms-sync outbox'],
  },
  awaits_sweep: {
    meaning:
      'Before a create is sent, a fresh sweep must show what the service has already; one is asked for.',
    next: [served],
  },
  kind_blocked: {
    meaning:
      'The service does not let the user of this token write this kind (401 or 403); it is tried again in five minutes, and at once when serve starts.',
    next: [() => 'Check the token, and what its user may write in the service.'],
  },
  unreachable: {
    meaning: 'The service could not be reached; it is tried again by itself.',
    next: [() => 'Nothing; if it stays so: bms-sync doctor'],
  },
  busy: { meaning: 'The service asked for patience (429); it is sent again by itself.' },
  ambiguous: {
    meaning:
      'It was sent, and its outcome is unknown: the next sweeps look for it before anything is sent again.',
    next: [served],
  },
  no_answer: {
    meaning: 'It was sent many times, no whole answer came, and the record does not show it.',
    onItsWay: 'It was sent and no whole answer came: the record is read before anything is sent again.',
    next: [retry, abandon],
  },
  looking: {
    meaning:
      'It was sent, its outcome is unknown, and it has not been found so far; it is looked for until patience ends.',
    next: [served],
  },
  retry: {
    meaning: 'A person asked for another try: it is looked for once more, and sent again if it is not there.',
    next: [served],
  },
  conflict: {
    meaning: 'Another user changed the same fields since the base of this update was read; nothing was sent.',
    next: [pushAnew, abandon],
  },
  other_record: {
    meaning:
      'The id belongs to another record by now: the one to update was deleted, or nearly all of it differs. Nothing more is sent.',
    next: [pushAnew, abandon],
  },
  forbidden: {
    meaning:
      'The service refuses this record (403), though it lets the user of this token write or read others.',
    onItsWay:
      'The service refuses this record (403); it is tried again in five minutes, and as soon as another write has succeeded.',
    next: [retry, abandon],
  },
  gone: {
    meaning: 'The record to update is gone from the service; it is not created again.',
    onItsWay:
      'The service does not show the record to update; it is looked for once more before it is taken for gone.',
    next: [retry, abandon],
  },
  twins: {
    meaning:
      'More than one record is exactly the one to be created, or the only such record was made by another entry.',
    next: [adopt, retry, abandon],
  },
  look_alike: {
    meaning:
      'It may be in the service: a new record there may be what the service made of it, or could not become a row.',
    next: [adopt, retry, abandon],
  },
  existed: {
    meaning:
      'A record with the same natural key was there before it was sent, or the service answered with such a record.',
    next: [adopt, retry, abandon],
  },
  lost_twice: {
    meaning:
      'Its answer was lost twice, and no record of the service can be it: something keeps it from arriving.',
    next: [retry, abandon],
  },
  alters_keys: {
    meaning:
      'No record of the service can be it. But the service gives records of this kind other keys than were sent, so that its record may be there unrecognised.',
    next: [adopt, retry, abandon],
  },
  other_source: {
    meaning:
      'It was sent to the service whose data this mirror held before: no list can show what became of it.',
    next: [adopt, retry, abandon],
  },
  repeats: {
    meaning:
      'Equal records are legitimate in this kind, so it cannot be known whether one of them is this one.',
    next: [adopt, retry, abandon],
  },
  no_certificate: {
    meaning:
      'Patience has ended and no sweep could prove what the list holds: whether it arrived is unknown.',
    next: [pull, adopt, retry, abandon],
  },
  not_named: {
    meaning:
      'The service answered that it made the record and did not name it; it is not in the lists for certain. It is never sent again.',
    next: [pull, adopt, abandon],
  },
  not_applied: {
    meaning: 'The service accepted the update, and reading back showed that fields did not take it.',
    onItsWay: 'The service accepted the update, and the record does not show it: it is sent once more.',
    next: [retry, pushAnew, abandon],
  },
  invalid: {
    meaning: 'It does not fit the catalogue or the settings; the result says why.',
    next: [pushAnew],
  },
  key_taken: {
    meaning: 'Its idempotency key belongs to an entry that ended long ago; the result names that entry.',
    next: [pushAnew],
  },
  service_refused: {
    meaning: 'The service refused it in its own words; the result has them.',
    next: [pushAnew, retry],
  },
  sent: { meaning: 'It was sent, and the service showed that it took it.' },
  already_so: { meaning: 'The service had it so already; nothing had to be sent.' },
  altered: {
    meaning:
      'It was sent, and the service made its record with other values than were sent; the result has them.',
  },
  adopted: { meaning: 'The record that it made was found in the service, or named by a person.' },
  resent: { meaning: 'Its first send had proved lost; it was sent again, and the service took it.' },
} as const satisfies Record<string, Verdict>;

const BY_NAME: ReadonlyMap<string, Verdict> = new Map(Object.entries(VERDICTS));

/** The text for an entry without a verdict. */
const BY_STATE = {
  ready: { meaning: 'It waits for its turn.' },
  sending: { meaning: 'It is being sent at this moment.' },
  unsettled: { meaning: 'It was sent and its outcome is unknown: it is looked for.' },
  done: { meaning: 'It is done.' },
  parked: { meaning: 'It cannot go on without a person.', next: [retry, abandon] },
  rejected: { meaning: 'It was refused.', next: [retry, abandon] },
  abandoned: { meaning: 'A person gave it up; nothing more is sent for it.' },
} as const satisfies Record<string, Verdict>;

/** Explains in plain words the state of an entry, and, in English, the actions open to a person. */
export function explain(entry: VerdictFacts, translator = translatorFor('en')): Explanation {
  const { meaning, next } = verdictOf(entry);
  const awaited = awaitedBy(entry, translator);
  const meaningText = translator.t(meaning);
  return {
    meaning: [meaningText, awaited, unprovenIn(entry, translator)].filter((part) => part !== null).join(' '),
    next: next.map((step) => step(entry)),
  };
}

/** Which fields of a finished update may be another user's work; null where all are proven to be ours. */
function unprovenIn(facts: VerdictFacts, translator: Translator): string | null {
  const { unproven = [] } = facts.settlement ?? {};
  if (facts.state !== 'done' || unproven.length === 0) return null;
  const fields = unproven.join(', ');
  return translator.t('No answer came: another user may have written the same to {fields}.', { fields });
}

/** Since when an entry waits for a reading of its kind, and why the latest one was not enough; null if it waits for none. */
export function awaitedBy(facts: VerdictFacts, { t, term } = translatorFor('en')): string | null {
  if (facts.settlement?.awaits === undefined || !['ready', 'unsettled', 'parked'].includes(facts.state))
    return null;
  const { since, why, records = [] } = facts.settlement.awaits;
  const values = { kind: facts.kind, since, why: term(why) };
  const waited = t('It has waited for a reading of {kind} since {since} UTC: {why}.', values);
  if (records.length === 0) return waited;
  return `${waited} ${t('The records in question: {ids}.', { ids: records.join(', ') })}`;
}

/** The decisions, with the actions that begin with them. */
const CHOICES = { adopt: [adopt], retry: [retry], abandon: [abandon, pushAnew] } as const;

/** A person's decision on an entry. */
type EntryChoice = keyof typeof CHOICES;

/** The decisions that an entry waits for; none while it goes on by itself. */
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
  const isOver = state === 'abandoned' || state === 'sending'; // Its verdict belongs to the time before.
  const known = isOver || verdict === null ? undefined : BY_NAME.get(verdict);
  const { meaning, onItsWay, next = [] }: Verdict = known ?? BY_STATE[state];
  return onItsWay !== undefined && state === 'ready' ? { meaning: onItsWay, next: [] } : { meaning, next };
}
