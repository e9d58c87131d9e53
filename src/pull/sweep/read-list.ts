import { errorText } from '../../lib/sync-error.ts';
import { awaitsSweep, readAbsences } from '../../store/records/deletion-store.ts';
import { MirrorError, OtherSourceError } from '../../db/session/errors.ts';
import { EXCLUDED_SINCE } from '../../store/kinds/exclusions.ts';
import { isOfSeveral } from '../token-holders.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import { isTooSlow } from '../../source/paging/page-size.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import { certifyList, type ListCertification } from '../certify-list.ts';
import { holdUntilRecognized } from './recognize-company.ts';
import { landResponses } from '../land/land-pages.ts';
import type { PullParts } from '../parts.ts';
import type { Sweep } from '../reading.ts';
import type { Tally } from '../land/tally.ts';

/** The reason of a list that was refused because it belongs to another company. */
export const OTHER_SOURCE = 'other_source';

/** Extra readings of a list in one sweep while a decision waits for a certificate. */
const MAX_EXTRA_READINGS = 2;

/** How the reading of a list ended: a stable word why it did not reach its end, and the same for a person. */
export type ReadingEnd = { readonly reason: string | null; readonly detail: string | null } & (
  | { readonly state: 'complete'; readonly list: ListCertification }
  | {
      readonly state: 'invalid' | 'aborted';
      /** A page took too long to make. */ readonly isTooSlow: boolean;
    }
);

/** Reads the whole list and lands it page by page; reads it again if that may give a pending proof. */
export async function readList(parts: PullParts, sweep: Sweep, tally: Tally): Promise<ReadingEnd> {
  const { session, clock } = parts;
  try {
    let last = await landWholeList(parts, sweep, tally);
    let list = await certifyList(session, sweep, last);
    for (let more = 0; more < MAX_EXTRA_READINGS && last !== null; more++) {
      const canHaveMissed = more === 0 && !last.isCounted;
      if (!(await needsAnotherReading(parts, sweep, tally, { ...list, canHaveMissed }))) break;
      last = await landWholeList(parts, sweep, tally, last);
      list = await certifyList(session, sweep, last);
    }
    if (await isOfSeveral(session, sweep.kind.name, tally.holders, clock.now())) return endOfTwoTokens(list);
    if (!list.certification.certified) {
      const { reason, detail } = list.certification;
      return { state: 'complete', list, reason, detail };
    }
    if (list.isOfThisSweep) return { state: 'complete', list, reason: null, detail: null };
    const detail = `certified at ${list.certifiedAt ?? 'an earlier sweep'}, changed since`;
    return { state: 'complete', list, reason: 'certified_earlier', detail };
  } catch (error) {
    return endOfError(error, parts, sweep);
  }
}

/** A list that was read with two tokens proves nothing about what it lacks: one may see less than the other. */
function endOfTwoTokens(list: ListCertification): ReadingEnd {
  const why = { reason: 'two_tokens', detail: 'the token was changed while the list was read' } as const;
  const certification = { certified: false, ...why } as const;
  const unproven = { certification, certifiedAt: null, isOfThisSweep: false, hasTwoTokens: true } as const;
  return { state: 'complete', list: { ...list, ...unproven }, ...why };
}

/** Turns an error that concerns this kind alone into the end of its reading. @throws Every other error. */
function endOfError(error: unknown, { logger }: PullParts, { kind, binding }: Sweep): ReadingEnd {
  if (error instanceof OtherSourceError) {
    binding.refusal ??= error; // Kinds that do not name their company depend on it.
    return { state: 'invalid', reason: OTHER_SOURCE, detail: errorText(error), isTooSlow: false };
  }
  if (error instanceof MirrorError && error.code === `mirror.${EXCLUDED_SINCE}`)
    return { state: 'aborted', reason: EXCLUDED_SINCE, detail: errorText(error), isTooSlow: false };
  if (!(error instanceof SourceError)) throw error;
  logger.debug({ kind: kind.name, reason: error.reason, err: error }, 'sweep ended early');
  const ofPage = error.cause instanceof SourceError ? error.cause : error;
  return { state: error.state, reason: error.reason, detail: errorText(error), isTooSlow: isTooSlow(ofPage) };
}

/**
 * Only for short lists, and only if a record is missing, the baseline is uncertain, or an unsettled create is searched
 * for; of a list that is known, only if it has no length and ends below the live rows: one look may have missed some.
 */
async function needsAnotherReading(
  { session, signal }: PullParts,
  { kind, rules, lease }: Sweep,
  tally: Tally,
  { isOfThisSweep, canHaveMissed }: { readonly isOfThisSweep: boolean; readonly canHaveMissed: boolean },
): Promise<boolean> {
  if (tally.pages() >= rules.repeatBelowPages || signal?.aborted) return false;
  const seen = tally.counts().rows;
  if (isOfThisSweep) {
    if (!canHaveMissed) return false;
    return (await countLiveRows(session, kind.name)) - (await readAbsences(session, kind.name)).size > seen;
  }
  if (lease.baselineAt === null || (await awaitsSweep(session, kind.name))) return true;
  return (await countLiveRows(session, kind.name)) > seen;
}

/** Lands every page in their order; returns the finished walk, or null without any response. */
async function landWholeList(
  parts: PullParts,
  sweep: Sweep,
  tally: Tally,
  reopenFrom?: ListResponse['walk'],
): Promise<ListResponse['walk'] | null> {
  const { kind, binding, knownRows, maxWholeRows, rulesDigest, pages, ticks, lease, hasHoles } = sweep;
  const thorough = lease.completeSweeps === 0 || binding.isNew || hasHoles;
  const known = { knownRows, maxWholeRows, hasHoles, rulesDigest, knownPages: pages };
  const read = (signal: AbortSignal) => {
    const list = parts.source.sweep(kind, { ...known, thorough, reopenFrom, tick: ticks.next, signal });
    return holdUntilRecognized(parts, list, sweep);
  };
  const onLanded = ({ walk: { lastPage } }: ListResponse): void => {
    parts.onProgress?.({ kind: kind.name, lastPage, ...tally.counts() });
  };
  const last = await landResponses(parts, { reading: sweep, tally, read, onLanded });
  return last?.walk ?? null;
}
