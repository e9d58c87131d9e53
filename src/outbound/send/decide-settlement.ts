import type { SearchResult } from '../../diff/match.ts';
import type { OutboundRules } from '../parts.ts';

/** The known facts about a create with an unknown outcome. */
export interface SettlementFacts {
  readonly look: SearchResult;
  /** Equal records are legitimate in this kind. */
  readonly repeats: boolean;
  /** When its last send was given up. */
  readonly givenUpAt: Date;
  /** The latest instant at which the list was known exactly; null = never. */
  readonly knownAt: Date | null;
  /** The end of the last sweep that saw all of the list; null = there was none. */
  readonly sweptAt: Date | null;
  /** Complete sweeps that began after `settleSeconds`. */
  readonly sweepsSince: number;
  /** The record carries our own marker: no other record does. */
  readonly isMarked: boolean;
  /** The list has since shown records that could not become rows. */
  readonly isDoubtful: boolean;
  /** A person has requested another attempt: `patienceSeconds` no longer apply. */
  readonly isAskedFor: boolean;
  /** Sweeps requested since the send for one search of the schedule; null = none yet. */
  readonly asked: AskedSweeps | null;
  readonly now: Date;
  readonly rules: Omit<OutboundRules, 'markerFields' | 'ignoreFields'>;
}

export interface AskedSweeps {
  /** The time of that search, in milliseconds since the send was given up. */
  readonly due: number;
  readonly times: number;
  /** When the first of these sweeps was requested, in milliseconds since the send was given up. */
  readonly since: number;
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
  /** `asked` is set where a sweep must be asked for. */
  | { readonly is: 'wait'; readonly until: Date; readonly asked: AskedSweeps | null }
  | { readonly is: 'resend' };

/** Multiple of `patienceSeconds` that a create waits for a certificate. */
const PATIENCE_MULTIPLE = 2;
const SWEEPS_A_LOOK = 2;
const ASK_AGAIN_MS = 60_000;

/**
 * Decides the next step for a create with an unknown outcome.
 *
 * A certificate newer than `settleSeconds` can show whether the record exists. To conclude that it never will, and to send
 * again, the certificate must be newer than `patienceSeconds` and fresh. Where the list does not certify, complete sweeps
 * can show that it exists: adopting sends nothing, so it doubles nothing.
 */
export function decideSettlement(facts: SettlementFacts): Settlement {
  const { look, rules } = facts;
  const knownAfterMs = sinceGivenUp(facts, facts.knownAt);
  const isKnown = knownAfterMs >= rules.settleSeconds * 1000;
  if (!isKnown && isShown(facts) && look.is === 'found') return { is: 'adopt', id: look.id };
  if (!isKnown) return lookFurther(facts, { isTime: false });
  if (look.is !== 'absent') return found(look, facts.repeats);
  const isTime = facts.isAskedFor || knownAfterMs >= rules.patienceSeconds * 1000;
  return isTime && isOfLate(facts) ? notFound(facts) : lookFurther(facts, { isTime });
}

/** Complete sweeps that must find the record alone; the first may have missed a twin that moved. */
const SWEEPS_TO_ADOPT = 2;

/** Whether complete sweeps have shown one record that can be it, and no other. */
function isShown({ look, repeats, sweepsSince, isMarked }: SettlementFacts): boolean {
  return look.is === 'found' && !repeats && sweepsSince >= (isMarked ? 1 : SWEEPS_TO_ADOPT);
}

/** Waits for the next search; a repeated send needs a fresh certificate. */
function lookFurther(facts: SettlementFacts, { isTime }: { readonly isTime: boolean }): Settlement {
  const { givenUpAt, now, rules } = facts;
  const elapsedMs = sinceGivenUp(facts, now);
  const { due, next } = lookTimes(elapsedMs, rules);
  const isLooked = due === null || (!isTime && sinceGivenUp(facts, facts.knownAt) >= due);
  const asked = isLooked ? null : askOnceMore(facts.asked, { due, elapsedMs });
  // After a long downtime no sweep has run yet: elapsed time alone parks no entry.
  const isOver = due !== null && elapsedMs >= PATIENCE_MULTIPLE * rules.patienceSeconds * 1000;
  if (asked === null && isOver) return notKnown(facts);
  // A requested sweep wakes the entry; a failed sweep is requested again soon.
  const afterMs = asked === null ? next : Math.min(next, elapsedMs + ASK_AGAIN_MS);
  return { is: 'wait', until: new Date(givenUpAt.getTime() + afterMs), asked };
}

function sinceGivenUp({ givenUpAt }: SettlementFacts, instant: Date | null): number {
  return (instant?.getTime() ?? -Infinity) - givenUpAt.getTime();
}

/**
 * Whether the list was known exactly a short time ago, so that a send starts from the present records. A long list is
 * known as of the beginning of its sweep; then the sweep must be a requested one.
 */
function isOfLate(facts: SettlementFacts): boolean {
  const { knownAt, sweptAt, asked, now, rules } = facts;
  const isYoung = (instant: Date | null): boolean =>
    instant !== null && now.getTime() - instant.getTime() <= rules.preimageMaxAgeSeconds * 1000;
  if (isYoung(knownAt)) return true;
  return asked !== null && sinceGivenUp(facts, knownAt) >= asked.since && isYoung(sweptAt);
}

/** A record that could not become a row may be the missing one. */
function notFound({ isDoubtful }: SettlementFacts): Settlement {
  return isDoubtful ? { is: 'park', verdict: 'look_alike', ids: [], hasUnreadable: true } : { is: 'resend' };
}

/** A list that keeps moving is not read over and over: it is requested again at the next search. */
function askOnceMore(
  asked: AskedSweeps | null,
  { due, elapsedMs }: { readonly due: number; readonly elapsedMs: number },
): AskedSweeps | null {
  if (asked?.due !== due) return { due, times: 1, since: elapsedMs };
  return asked.times < SWEEPS_A_LOOK ? { ...asked, times: asked.times + 1 } : null;
}

/** `patienceSeconds` have passed and the list was never known exactly: a person must judge the findings. */
function notKnown({ look, repeats }: SettlementFacts): Settlement {
  if (look.is === 'absent') return { is: 'park', verdict: 'no_certificate', ids: [] };
  const judged = found(look, repeats);
  return judged.is === 'adopt' ? { is: 'park', verdict: 'no_certificate', ids: [judged.id] } : judged;
}

function found(look: Exclude<SearchResult, { readonly is: 'absent' }>, repeats: boolean): Settlement {
  if (look.is === 'found') {
    if (!repeats) return { is: 'adopt', id: look.id };
    return { is: 'park', verdict: 'repeats', ids: [look.id] };
  }
  return { is: 'park', verdict: look.is === 'twins' ? 'twins' : 'look_alike', ids: look.ids };
}

type LookRules = Pick<OutboundRules, 'settleSeconds' | 'patienceSeconds' | 'lookScheduleSeconds'>;

/** The schedule of searches for a send, in milliseconds since it was given up. */
interface LookTimes {
  /** The latest search that is due; the list must be known since then. Null = none is due yet. */
  readonly due: number | null;
  /** The time of the next search. */
  readonly next: number;
}

/**
 * Computes the due search and the next one: at `settleSeconds`, at the times of `lookScheduleSeconds`, at
 * `patienceSeconds`, and then every `patienceSeconds` (at least hourly).
 */
export function lookTimes(elapsedMs: number, rules: LookRules): LookTimes {
  const [rest, patience] = [rules.settleSeconds * 1000, rules.patienceSeconds * 1000];
  const times = [rest, ...rules.lookScheduleSeconds.map((seconds) => seconds * 1000), patience]
    .filter((time) => time >= rest)
    .sort((a, b) => a - b);
  const due = times.filter((time) => time <= elapsedMs).at(-1) ?? null;
  const next = times.find((time) => time > elapsedMs);
  return { due, next: next ?? elapsedMs + Math.max(patience, 3_600_000) };
}
