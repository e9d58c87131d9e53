import { instantOf } from '../../lib/time/clock.ts';
import type { Session } from '../../db/session/session.ts';
import { isFailedReading, outcomeWords } from '../../words/outcome-words.ts';
import { readBlocks, type WriteBlock } from '../../store/outbox/outbox-queue.ts';
import { listEntries, type Entry } from '../../store/outbox/outbox-store.ts';
import { readDisappeared, readHeldRecords, type ShownHold } from '../../store/records/deletion-store.ts';
import { readVolatile } from '../../store/runs/volatile-fields.ts';
import type { VolatileFields } from '../../store/webhooks/news.ts';
import { heldBecause } from '../../store/records/hold-store.ts';
import { readDamage, type Damage } from '../../store/integrity-check.ts';
import { listEndpoints, needsPerson, type EndpointStanding } from '../../store/webhooks/endpoint-store.ts';
import { explain } from '../../outbound/decisions/verdicts.ts';
import { readFrozen, type Frozen } from '../../store/outbox/freeze-store.ts';
import {
  endpointButtons,
  endpointEffects,
  entryButtons,
  entryEffects,
  holdButtons,
  holdEffects,
  type DecisionButton,
} from './decisions.ts';
import { recordName } from '../../store/records/record-name.ts';
import { told } from './layout.ts';
import type { KindLine } from './kinds.ts';
import { html, sentence, type Part } from '../../http/html.ts';
import type { Text } from '../../lib/text/speech.ts';
import type { Reader } from './reader.ts';

/** Something that does not go on without a person. */
export interface Need {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly address?: string;
  readonly why: Part;
  /** The effect of each decision, or the step to take elsewhere. */
  readonly effect: string;
  readonly since?: string | null;
  /** Nothing goes on at all meanwhile, or what the mirror says may be wrong. */
  readonly isGrave?: boolean;
  readonly buttons?: readonly DecisionButton[];
}

const PARKED_SHOWN = 5;

/** Everything that needs a person, the gravest first; of the parked entries, `parkedInAll`, it names some. */
export async function readNeeds(
  session: Session,
  kinds: readonly KindLine[],
  parkedInAll: number,
  reader: Reader,
): Promise<readonly Need[]> {
  const [disappeared, damage, frozen, parked, blocks, endpoints, volatile] = await Promise.all([
    readDisappeared(session),
    readDamage(session),
    readFrozen(session),
    parkedInAll === 0 ? [] : listEntries(session, ['parked'], PARKED_SHOWN),
    readBlocks(session),
    listEndpoints(session),
    readVolatile(session),
  ]);
  const held = disappeared.filter(({ state }) => state === 'held');
  // One card a cause: kinds whose readings ended alike share it.
  const unread = kinds.filter(({ state, isStale }) => isFailedReading(state) || isStale);
  const alike = Map.groupBy(unread, ({ state, reason }) =>
    isFailedReading(state) ? (reason ?? state) : 'stale',
  );
  return [
    ...(damage === null ? [] : [damageNeed(damage, reader)]),
    ...(frozen === null ? [] : [frozenNeed(frozen, reader)]),
    ...(await Promise.all(held.map((hold) => heldNeed(session, hold, reader)))),
    ...parked.map((entry) => parkedNeed(entry, reader)),
    ...moreParked(parkedInAll - parked.length, reader),
    ...blocks.map((block) => blockedNeed(block, reader)),
    ...[...alike.values()].flatMap((lines) => readingNeed(lines, reader)),
    ...(volatile === null ? [] : [volatileNeed(volatile, reader)]),
    ...endpoints.filter(needsPerson).map((endpoint) => endpointNeed(endpoint, reader)),
  ];
}

const damageNeed = ({ reason, since }: Damage, { say }: Reader): Need => ({
  id: 'damage',
  title: say('The database file is damaged'),
  why: html`<span lang="en">${reason}</span>`,
  since,
  isGrave: true,
  effect: say('Run bms-sync doctor, and restore a backup: docs/operations.md says how.'),
});

const frozenNeed = ({ reason, since }: Frozen, reader: Reader): Need => ({
  id: 'frozen',
  title: reader.say('Nothing is sent'),
  why: html`${told(reader, reason)}.`,
  since,
  isGrave: true,
  effect: reader.say(
    'Resume sends what waits in the outbox. Look first whether the service has some of it already.',
  ),
  buttons: [{ label: reader.say('Resume'), address: '/outbox/resume' }],
});

const HELD_NAMED = 3;

async function heldNeed(session: Session, hold: ShownHold, reader: Reader): Promise<Need> {
  const { kind, records, since } = hold;
  const { say } = reader;
  const some = await readHeldRecords(session, hold, { limit: HELD_NAMED });
  const named = some.map(({ id, raw }) => recordName(raw) || id).join(', ');
  const more = Math.max(0, records - HELD_NAMED);
  const because = heldBecause(hold.why ?? null);
  const names = html`<span translate="no">${named}</span>`;
  return {
    id: `held-${kind}`,
    title: say(HELD, { n: records, kind }),
    address: '/deletions',
    since,
    effect: holdEffects(reader),
    buttons: holdButtons(reader, hold),
    why: because === null ? say(UNSEEN, { names, more }) : html`${names}: ${say(because)}.`,
  };
}

const HELD: Text = '{n, plural, one {# deletion of {kind} is held} other {# deletions of {kind} are held}}';
const UNSEEN: Text =
  'The list no longer shows so many records at once: {names}{more, plural, =0 {} one { and # other} other { and # others}}.';

function parkedNeed(entry: Entry, reader: Reader): Need {
  const { id, kind, operation, recordId, updatedAt } = entry;
  const { say, word } = reader;
  const record = recordId === null ? kind : `${kind} ${recordId}`;
  const values = { id, operation: word(operation), record };
  return {
    id: `entry-${id}`,
    title: say('Entry {id} is parked: {operation} of {record}', values),
    address: `/outbox/${id}`,
    why: explain(entry, reader).meaning,
    effect: entryEffects(reader, entry),
    since: updatedAt,
    buttons: entryButtons(reader, entry),
  };
}

function moreParked(n: number, { say }: Reader): readonly Need[] {
  if (n <= 0) return [];
  return [
    {
      id: 'parked',
      title: say('{n, plural, one {# more entry is parked} other {# more entries are parked}}', { n }),
      address: '/outbox?state=parked',
      why: say('They wait for a decision each.'),
      effect: '',
    },
  ];
}

const blockedNeed = ({ kind, reason, since, probeAt }: WriteBlock, { say, minute }: Reader): Need => ({
  id: `blocked-${kind}`,
  title: say('{kind} may not be written', { kind }),
  since,
  why: say('The service refuses it to the user of this token ({reason}).', {
    reason: html`<code>${reason}</code>`,
  }),
  effect: say(BLOCKED, { time: minute(instantOf(probeAt)) }),
});

const BLOCKED: Text =
  'Give that user the right in the service, or take another token. It is tried again at {time}.';

/** Kinds that were not read, all for the reason of the first. */
function readingNeed(lines: readonly KindLine[], reader: Reader): readonly Need[] {
  const { say } = reader;
  const [first] = lines;
  if (first === undefined) return [];
  const { kind, state, reason, last_sweep_at: since, isStale } = first;
  const isOne = lines.length === 1;
  const names = lines.map((line) => line.kind).join(', ');
  const stale = say(
    since === null ? 'It was never read to its end.' : 'Three slots of the schedule have passed.',
  );
  const why = sentence(outcomeWords({ state, reason }, reader).why ?? state);
  const need = {
    id: `stale-${kind}`,
    since,
    title: say(isStale ? STALE : UNREAD, { n: lines.length, names }),
    why: isFailedReading(state) ? `${why} ${isStale ? stale : ''}` : stale,
  };
  if (reason === 'unauthorized')
    return [
      {
        ...need,
        effect: say(
          'Write a token that it accepts into the file of BMS_TOKEN_FILE: it is read again by itself. Without such a file, set BMS_TOKEN and start bms-sync serve again.',
        ),
      },
    ];
  const values = isOne ? { kinds: kind } : {};
  return [
    {
      ...need,
      effect: say('Pull: the list is read as soon as a background service is free.'),
      buttons: [{ label: say('Pull'), about: names, address: '/pulls', values }],
    },
  ];
}

const STALE: Text = '{n, plural, one {{names} is stale} other {# kinds are stale: {names}}}';
const UNREAD: Text =
  '{n, plural, one {{names} is not read to the end} other {# kinds are not read to the end: {names}}}';

const volatileNeed = ({ fields, setting }: VolatileFields, { say }: Reader): Need => ({
  id: 'volatile',
  title: say('{n, plural, one {# field changes} other {# fields change}} with every sweep', {
    n: fields.length,
  }),
  address: '/changes',
  why: html`${say('Most records show another value each time, and each is an event: {names}.', { names: fields.join(', ') })}
    <code>${setting}</code>`,
  effect: say('Add this line to the settings: their values stay up to date, and make no events.'),
});

function endpointNeed(endpoint: EndpointStanding, reader: Reader): Need {
  const { name, health, disabledReason, failures, failingSince, pending } = endpoint;
  const { say } = reader;
  const waiting = say(WAITING, { n: pending });
  const isDisabled = health === 'disabled';
  const title = isDisabled ? 'The endpoint {name} is disabled' : 'The endpoint {name} takes no deliveries';
  const why = isDisabled
    ? say(DISABLED_WHY[disabledReason ?? ''] ?? 'Nothing is sent to it.')
    : say('{n, plural, one {# attempt has} other {# attempts have}} failed in a row.', { n: failures });
  return {
    id: `endpoint-${name}`,
    address: `/webhooks?endpoint=${name}`,
    since: failingSince,
    title: say(title, { name }),
    why: `${why} ${waiting}`,
    effect: endpointEffects(reader, endpoint),
    buttons: endpointButtons(reader, endpoint),
  };
}

const WAITING: Text = '{n, plural, one {# delivery waits} other {# deliveries wait}} for it.';

const DISABLED_WHY: Readonly<Record<string, Text>> = {
  gone: 'It has answered 410 Gone.',
  failing: 'It has taken nothing for five days.',
};
