import { endedMs, type Reading } from '../../store/kinds/kind-standing.ts';
import type { Search } from '../../store/outbox/settlement.ts';
import type { OutboundRules } from '../parts.ts';

/** The known facts about a create with an unknown outcome. */
export interface SettlementFacts {
  /** Time since the send was lost. */
  readonly elapsedMs: number;
  /** The possible match whose id the answer gave; null = there is none. */
  readonly namedId: string | null;
  /** Possible matches that are equal to what was sent. */
  readonly equalIds: readonly string[];
  /** Possible matches whose values the service may have rewritten. Empty until patience has ended. */
  readonly plausibleIds: readonly string[];
  /** An answer proves that the service made a record, and does not name it. */
  readonly isCreationConfirmed: boolean;
  /** The only possible match; null = none, or several. */
  readonly soleId: string | null;
  readonly search: Search | null;
  /** Sweeps since the latest search began that have ended, oldest first. One that a break or time has made void is none. */
  readonly readings: readonly Reading[];
  /** A sweep that counts for the search has not ended yet. */
  readonly isReading: boolean;
  /** Equal records are legitimate in this kind. */
  readonly repeats: boolean;
  /** The list has since shown records that could not become rows. */
  readonly isDoubtful: boolean;
  /** Records of the list that cannot become rows, by name: they bar the certificate. */
  readonly unreadable: readonly string[];
  /** A person has seen all of these and decided against them: they bar it no longer. */
  readonly acceptsQuarantine: boolean;
  /** Records that answers to our creates named, and that no later list has shown. */
  readonly unlistedIds: readonly string[];
  /** Why even a list that was certified does not show what became of it; null = it does. */
  readonly doubt: string | null;
  /** A person has requested another try: what speaks against a second send no longer applies. */
  readonly isAskedFor: boolean;
  /** Patience no longer applies: a person has ended the waiting. What speaks against a second send still does. */
  readonly isWaitEnded: boolean;
  /** How long the clock of a short wait has stood, since the latest sweep had not certified the list; null = all of patience applies. */
  readonly stoodMs: number | null;
  /** Sends whose outcome was lost. */
  readonly lostSends: number;
  /** The service has altered a natural key of this kind in an answer. */
  readonly hasAlteredKeys: boolean;
  readonly rules: Pick<OutboundRules, 'settleSeconds' | 'patienceSeconds'>;
}

export type Settlement =
  | { readonly is: 'adopt'; readonly id: string }
  | {
      readonly is: 'park';
      readonly verdict: string;
      readonly ids: readonly string[];
      /** Records without a row are the ones in doubt. */
      readonly hasUnreadable?: true;
    }
  | { readonly is: 'wait'; readonly untilMs: number; readonly needsSweep: boolean }
  | { readonly is: 'resend' };

/**
 * Decides the next step for a create with an unknown outcome.
 *
 * A record equal to what was sent is taken for ours: this sends nothing, so it cannot create a duplicate. To send again, patience must have
 * ended, the latest sweep must have been requested since and ended certified, and nothing in the list may be what the service made
 * of the create. A sweep that knew the list exactly and still distrusted it, since rows have left it, ends otherwise.
 */
export function decideSettlement(facts: SettlementFacts): Settlement {
  return facts.namedId === null ? decideUnnamed(facts) : { is: 'adopt', id: facts.namedId };
}

function decideUnnamed(facts: SettlementFacts): Settlement {
  const { equalIds, repeats } = facts;
  const [id] = equalIds;
  if (id !== undefined && hasShownAll(facts)) {
    if (repeats) return { is: 'park', verdict: 'repeats', ids: equalIds };
    return equalIds.length > 1 ? { is: 'park', verdict: 'twins', ids: equalIds } : { is: 'adopt', id };
  }
  const isKnown = isSearched(facts) && isListKnown(facts);
  return isKnown && isFinal(facts) ? decideFinally(facts) : waitOrPark(facts);
}

/** Multiple of `patienceSeconds` that a create waits for a certificate. */
const PATIENCE_MULTIPLE = 3;
const SWEEPS_PER_SEARCH = 2;
const ASK_AGAIN_MS = 60_000;
/** Complete sweeps that must show a record where none certifies; the first may have missed a twin that moved. */
const SWEEPS_TO_ADOPT = 2;

function hasShownAll(facts: SettlementFacts): boolean {
  const complete = facts.readings.filter(({ state }) => state === 'certified' || state === 'complete');
  return complete.length >= SWEEPS_TO_ADOPT || hasCertified(facts);
}

const hasCertified = (facts: SettlementFacts): boolean =>
  facts.readings.some((reading) => isCertified(reading, facts));

const isCertified = (reading: Reading, { acceptsQuarantine }: Pick<SettlementFacts, 'acceptsQuarantine'>) =>
  reading.state === 'certified' || (acceptsQuarantine && reading.reason === 'quarantined');

/** The latest sweep; none is one that found the kind being read by another process. */
export const latestReading = (readings: readonly Reading[]): Reading | undefined =>
  readings.findLast((reading) => reading.state !== 'busy');

/** Whether the latest sweep proves what the list lacks. */
export function isListKnown(facts: SettlementFacts): boolean {
  const latest = latestReading(facts.readings);
  return latest !== undefined && isCertified(latest, facts) && facts.doubt === null;
}

/** Whether the search that is due now has begun. */
const isSearched = (facts: SettlementFacts): boolean =>
  facts.search !== null && facts.search.due === searchTimes(facts).due;

type Waited = Pick<SettlementFacts, 'elapsedMs' | 'isWaitEnded' | 'stoodMs' | 'rules'>;

/** Whether it is time to conclude from what the list lacks. */
export const isFinal = (facts: Waited): boolean => facts.elapsedMs >= waitMs(facts);

/** The part of patience that is enough where the service's own answer has ended its work on the request. */
const SOON = 1 / 24;

/** How long a lost send is searched for before it can be sent again. */
export function waitMs({ isWaitEnded, stoodMs, rules }: Omit<Waited, 'elapsedMs'>): number {
  const settleMs = rules.settleSeconds * 1000;
  const patienceMs = rules.patienceSeconds * 1000;
  if (isWaitEnded) return settleMs;
  const soonMs = stoodMs === null ? Infinity : Math.round(SOON * patienceMs) + stoodMs;
  return Math.max(settleMs, Math.min(patienceMs, soonMs));
}

/** How long between two instants the latest sweep had not certified the list. @param all Its sweeps since the last one before. */
export function uncertifiedMs(all: readonly Reading[], fromMs: number, toMs: number): number {
  const readings = all.filter(({ state }) => state !== 'busy');
  const ends = [...readings.map(endedMs), toMs].map((ms) => Math.min(toMs, Math.max(fromMs, ms)));
  const spansMs = readings.map((_reading, at) => Math.max(0, (ends[at + 1] ?? 0) - (ends[at] ?? 0)));
  return spansMs.reduce((sum, ms, at) => sum + (readings[at]?.state === 'certified' ? 0 : ms), 0);
}

/** Nothing in the service is it for certain: it is sent again, once, unless something speaks against that. */
function decideFinally(facts: SettlementFacts): Settlement {
  const { plausibleIds, isCreationConfirmed, soleId, isDoubtful } = facts;
  const park = (verdict: string): Settlement => ({ is: 'park', verdict, ids: plausibleIds });
  if (plausibleIds.length > 0 && facts.repeats) return park('repeats');
  if (isCreationConfirmed)
    return soleId === null || isDoubtful ? park('not_named') : { is: 'adopt', id: soleId };
  if (plausibleIds.length > 0) return park('look_alike');
  if (isDoubtful) return { is: 'park', verdict: 'look_alike', ids: [], hasUnreadable: true };
  if (facts.isAskedFor) return { is: 'resend' };
  if (facts.lostSends > 1) return park('lost_twice');
  return facts.hasAlteredKeys ? park('alters_keys') : { is: 'resend' };
}

/** Whether waiting on would be in vain: time does not fix a record that cannot become a row. */
const isHopeless = (facts: SettlementFacts): boolean =>
  facts.unreadable.length > 0 &&
  isFinal(facts) &&
  isSearched(facts) &&
  latestReading(facts.readings)?.state === 'complete';

/** Waits for the next search. A list that keeps moving is not read over and over: it is read again at the next search. */
function waitOrPark(facts: SettlementFacts): Settlement {
  const { elapsedMs, equalIds, plausibleIds, readings, isReading, rules } = facts;
  const { due, next } = searchTimes(facts);
  const park: Settlement = { is: 'park', verdict: 'no_certificate', ids: [...equalIds, ...plausibleIds] };
  if (isHopeless(facts)) return park;
  const wait: Settlement = { is: 'wait', untilMs: next, needsSweep: false };
  if (due === null) return wait;
  const begins = !isSearched(facts);
  if (!begins && !isFinal(facts) && hasCertified(facts)) return wait;
  const isExpected = elapsedMs < due + SWEEPS_PER_SEARCH * ASK_AGAIN_MS;
  if (begins || (readings.length === 0 ? isExpected : readings.length < SWEEPS_PER_SEARCH)) {
    const untilMs = Math.min(next, elapsedMs + ASK_AGAIN_MS); // A run that fails as a whole does not wake the entry.
    return { is: 'wait', untilMs, needsSweep: begins || !isReading };
  }
  return elapsedMs >= PATIENCE_MULTIPLE * rules.patienceSeconds * 1000 ? park : wait;
}

/** Looks after an entry should have been parked are an hour apart at least. */
const MIN_INTERVAL_MS = 3_600_000;

/**
 * The looks for a send, in milliseconds since it was lost: the latest that is due (null = none yet), and the next.
 *
 * After `settleSeconds`; then a 24th, a quarter, half, all, twice and three times `patienceSeconds`; then after each further one.
 * Where a 24th is enough, after each 24th: the clock may have stood.
 */
export function searchTimes({ elapsedMs, stoodMs, rules }: Omit<Waited, 'isWaitEnded'>) {
  const patienceMs = rules.patienceSeconds * 1000;
  const firstDelayMs = firstSearchMs(rules);
  const eachSoon = Array.from({ length: 1 / SOON - 1 }, (_none, at) => (at + 1) * SOON);
  const parts = stoodMs === null ? [SOON, 1 / 4, 1 / 2] : eachSoon;
  const times = [
    firstDelayMs,
    ...[...parts, 1, 2, PATIENCE_MULTIPLE].map((part) => Math.round(part * patienceMs)),
  ]
    .filter((time) => time >= firstDelayMs)
    .sort((a, b) => a - b);
  const last = times.at(-1) ?? firstDelayMs;
  const intervalMs = Math.max(patienceMs, MIN_INTERVAL_MS);
  while (elapsedMs >= (times.at(-1) ?? last)) times.push((times.at(-1) ?? last) + intervalMs);
  const due = times.filter((time) => time <= elapsedMs).at(-1) ?? null;
  return { due, next: times.find((time) => time > elapsedMs) ?? elapsedMs + intervalMs };
}

export const firstSearchMs = ({ settleSeconds }: { readonly settleSeconds: number }): number =>
  settleSeconds * 1000;
