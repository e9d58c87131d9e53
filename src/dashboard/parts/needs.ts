import { instantOf } from '../../lib/time/clock.ts';
import type { Session } from '../../db/session/session.ts';
import { isFailed, outcomeWords } from '../../mirror/kinds/outcome-words.ts';
import { readBlocks } from '../../mirror/outbox/outbox-queue.ts';
import type { WriteBlock } from '../../mirror/outbox/outbox-queue.ts';
import { listEntries } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { readDisappeared, readHeldRecords } from '../../mirror/records/deletion-store.ts';
import type { ShownHold } from '../../mirror/records/deletion-store.ts';
import { readDamage } from '../../mirror/integrity-check.ts';
import type { Damage } from '../../mirror/integrity-check.ts';
import { listEndpoints, needsPerson } from '../../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../../mirror/webhooks/endpoint-store.ts';
import { explain } from '../../outbound/decisions/verdicts.ts';
import { readFrozen } from '../../mirror/outbox/freeze-store.ts';
import type { Frozen } from '../../mirror/outbox/freeze-store.ts';
import {
  endpointButtons,
  endpointEffects,
  entryButtons,
  entryEffects,
  HOLD_EFFECTS,
  holdButtons,
} from './decisions.ts';
import type { DecisionButton } from './decisions.ts';
import { recordName } from '../../mirror/records/record-name.ts';
import type { KindLine } from './kinds.ts';
import { counted, sentence } from '../../http/html.ts';
import type { Reader } from './reader.ts';

/** Something that does not go on without a person. */
export interface Need {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly address?: string;
  readonly why: string;
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
  const [disappeared, damage, frozen, parked, blocks, endpoints] = await Promise.all([
    readDisappeared(session),
    readDamage(session),
    readFrozen(session),
    parkedInAll === 0 ? [] : listEntries(session, ['parked'], PARKED_SHOWN),
    readBlocks(session),
    listEndpoints(session),
  ]);
  const held = disappeared.filter(({ state }) => state === 'held');
  // One card a cause: kinds whose readings ended alike share it.
  const unread = kinds.filter(({ state, isStale }) => isFailed(state) || isStale);
  const alike = Map.groupBy(unread, ({ state, reason }) => (isFailed(state) ? (reason ?? state) : 'stale'));
  return [
    ...(damage === null ? [] : [damageNeed(damage)]),
    ...(frozen === null ? [] : [frozenNeed(frozen)]),
    ...(await Promise.all(held.map((hold) => heldNeed(session, hold)))),
    ...parked.map(parkedNeed),
    ...moreParked(parkedInAll - parked.length),
    ...blocks.map((block) => blockedNeed(block, reader)),
    ...[...alike.values()].flatMap(readingNeed),
    ...endpoints.filter(needsPerson).map(endpointNeed),
  ];
}

const damageNeed = ({ reason, since }: Damage): Need => ({
  id: 'damage',
  title: 'The database file is damaged',
  why: reason,
  since,
  isGrave: true,
  effect: 'Run bms-sync doctor, and restore a backup: docs/operations.md says how.',
});

const frozenNeed = ({ reason, since }: Frozen): Need => ({
  id: 'frozen',
  title: 'Nothing is sent',
  why: `${reason}.`,
  since,
  isGrave: true,
  effect: 'Resume sends what waits in the outbox. Look first whether the service has some of it already.',
  buttons: [{ label: 'Resume', address: '/outbox/resume' }],
});

const HELD_NAMED = 3;

async function heldNeed(session: Session, hold: ShownHold): Promise<Need> {
  const { kind, records, since } = hold;
  const some = await readHeldRecords(session, hold, { limit: HELD_NAMED });
  const names = some.map(({ id, raw }) => recordName(raw) || id).join(', ');
  const more = records > HELD_NAMED ? ` and ${counted(records - HELD_NAMED, 'other')}` : '';
  return {
    id: `held-${kind}`,
    title: `${counted(records, 'deletion')} of ${kind} ${records === 1 ? 'is' : 'are'} held`,
    address: '/deletions',
    since,
    effect: HOLD_EFFECTS,
    buttons: holdButtons(hold),
    why: `The list no longer shows so many records at once: ${names}${more}.`,
  };
}

function parkedNeed(entry: Entry): Need {
  const { id, kind, operation, recordId, updatedAt } = entry;
  const what = `${operation} of ${kind}${recordId === null ? '' : ` ${recordId}`}`;
  return {
    id: `entry-${id}`,
    title: `Entry ${id} is parked: ${what}`,
    address: `/outbox/${id}`,
    why: explain(entry).meaning,
    effect: entryEffects(entry),
    since: updatedAt,
    buttons: entryButtons(entry),
  };
}

function moreParked(more: number): readonly Need[] {
  if (more <= 0) return [];
  return [
    {
      id: 'parked',
      title: `${counted(more, 'more entry', 'more entries')} ${more === 1 ? 'is' : 'are'} parked`,
      address: '/outbox?state=parked',
      why: 'They wait for a decision each.',
      effect: '',
    },
  ];
}

const blockedNeed = ({ kind, reason, since, probeAt }: WriteBlock, reader: Reader): Need => ({
  id: `blocked-${kind}`,
  title: `${kind} may not be written`,
  since,
  why: `The service refuses it to the user of this token (${reason}).`,
  effect: `Give that user the right in the service, or take another token. It is tried again at ${reader.minute(instantOf(probeAt))}.`,
});

/** Kinds that were not read, all for the reason of the first. */
function readingNeed(lines: readonly KindLine[]): readonly Need[] {
  const [first] = lines;
  if (first === undefined) return [];
  const { kind, state, reason, last_sweep_at: since, isStale } = first;
  const isOne = lines.length === 1;
  const names = lines.map((line) => line.kind).join(', ');
  const what = `${isOne ? 'is' : 'are'} ${isStale ? 'stale' : 'not read to the end'}`;
  const stale = since === null ? 'It was never read to its end.' : 'Three slots of the schedule have passed.';
  const why = sentence(outcomeWords({ state, reason }).why ?? state);
  const need = {
    id: `stale-${kind}`,
    since,
    title: isOne ? `${kind} ${what}` : `${lines.length} kinds ${what}: ${names}`,
    why: isFailed(state) ? `${why} ${isStale ? stale : ''}` : stale,
  };
  if (reason === 'unauthorized')
    return [{ ...need, effect: 'Give BMS_TOKEN a token that it accepts, and start bms-sync serve again.' }];
  const values = isOne ? { kinds: kind } : {};
  return [
    {
      ...need,
      effect: 'Pull: the list is read as soon as a background service is free.',
      buttons: [{ label: 'Pull', about: names, address: '/pulls', values }],
    },
  ];
}

function endpointNeed(endpoint: EndpointStanding): Need {
  const { name, health, disabledReason, failures, failingSince, pending } = endpoint;
  const waiting = `${counted(pending, 'delivery waits', 'deliveries wait')} for it.`;
  const isDisabled = health === 'disabled';
  return {
    id: `endpoint-${name}`,
    address: `/webhooks?endpoint=${name}`,
    since: failingSince,
    title: isDisabled ? `The endpoint ${name} is disabled` : `The endpoint ${name} takes no deliveries`,
    why: isDisabled
      ? `${DISABLED_WHY[disabledReason ?? ''] ?? 'Nothing is sent to it.'} ${waiting}`
      : `${counted(failures, 'attempt has', 'attempts have')} failed in a row. ${waiting}`,
    effect: endpointEffects(endpoint),
    buttons: endpointButtons(endpoint),
  };
}

const DISABLED_WHY: Readonly<Record<string, string>> = {
  gone: 'It has answered 410 Gone.',
  failing: 'It has taken nothing for five days.',
};
