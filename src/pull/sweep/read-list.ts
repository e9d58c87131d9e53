import type { ListedKind } from '../../catalog/kind.ts';
import { describe } from '../../lib/sync-error.ts';
import { awaitsSweep, readAbsences } from '../../store/records/deletion-store.ts';
import { MirrorError, OtherSourceError } from '../../db/session/errors.ts';
import { EXCLUDED_SINCE } from '../../store/kinds/exclusions.ts';
import { countLive } from '../../store/kinds/status-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import { certifyList, type ListCertification } from '../run/list-sightings.ts';
import { requireTenant } from '../land/guard-source.ts';
import { landArriving } from '../land/land-pages.ts';
import type { PullParts, ReadingRules } from '../run/parts.ts';
import type { Sweep } from '../run/sweep.ts';
import type { Tally } from '../land/tally.ts';

/** The reason of a list that was refused because it belongs to another company. */
export const OTHER_SOURCE = 'other_source';

/** Extra readings of a list in one sweep while a decision waits for a certificate. */
const READINGS_MORE = 2;

export interface ListReading {
  readonly kind: ListedKind;
  readonly rules: ReadingRules;
  readonly sweep: Sweep;
  readonly tally: Tally;
}

/** How the reading of a list ended: a stable word why it did not reach its end, and the same for a person. */
export type Ending = { readonly reason: string | null; readonly detail: string | null } & (
  | { readonly state: 'complete'; readonly verdict: ListCertification }
  | { readonly state: 'invalid' | 'aborted' }
);

/** Reads the whole list and lands it page by page; reads it again if that may give a pending proof. */
export async function readList(parts: PullParts, reading: ListReading): Promise<Ending> {
  try {
    let last = await landAll(parts, reading, null);
    let verdict = await certifyList(parts.session, reading.sweep);
    for (let more = 0; more < READINGS_MORE && last !== null; more++) {
      const mayMiss = more === 0 && !last.isCounted;
      if (!(await isWorthAnother(parts, reading, { ...verdict, mayMiss }))) break;
      last = await landAll(parts, reading, last);
      verdict = await certifyList(parts.session, reading.sweep);
    }
    if (!verdict.verdict.certified) {
      const { reason, detail } = verdict.verdict;
      return { state: 'complete', verdict, reason, detail };
    }
    if (verdict.isOfThisSweep) return { state: 'complete', verdict, reason: null, detail: null };
    const detail = `known exactly as of ${verdict.certifiedAt ?? 'an earlier sweep'}, not since`;
    return { state: 'complete', verdict, reason: 'certified_earlier', detail };
  } catch (error) {
    return endOf(error, parts, reading);
  }
}

/** How a reading ends by an error of this kind alone. @throws Every other error. */
function endOf(error: unknown, parts: PullParts, reading: ListReading): Ending {
  if (error instanceof OtherSourceError) {
    reading.sweep.claim.refusal ??= error; // Kinds that do not name their company depend on it.
    return { state: 'invalid', reason: OTHER_SOURCE, detail: describe(error) };
  }
  if (error instanceof MirrorError && error.code === `mirror.${EXCLUDED_SINCE}`)
    return { state: 'aborted', reason: EXCLUDED_SINCE, detail: describe(error) };
  if (!(error instanceof SourceError)) throw error;
  parts.logger.debug({ kind: reading.kind.name, reason: error.reason, err: error }, 'sweep ended early');
  return { state: error.state, reason: error.reason, detail: describe(error) };
}

/**
 * Only for short lists, and only if a record is missing, the baseline is uncertain, or an unsettled create is searched
 * for; of a list that is known, only if it does not tell its length and ends below the live rows: one look may have missed some.
 */
async function isWorthAnother(
  parts: PullParts,
  reading: ListReading,
  certification: ListCertification & { readonly mayMiss: boolean },
): Promise<boolean> {
  const { kind, rules, sweep, tally } = reading;
  const { session, signal } = parts;
  if (tally.pages() >= rules.repeatBelowPages || signal?.aborted) return false;
  const seen = tally.counts().rows;
  if (certification.isOfThisSweep) {
    if (!certification.mayMiss) return false;
    return (await countLive(session, kind.name)) - (await readAbsences(session, kind.name)).size > seen;
  }
  if (sweep.lease.baselineAt === null || (await awaitsSweep(session, kind.name))) return true;
  return (await countLive(session, kind.name)) > seen;
}

/** Lands every page in their order; returns the finished walk, or null without any response. */
async function landAll(
  parts: PullParts,
  reading: ListReading,
  reopen: ListResponse['walk'] | null,
): Promise<ListResponse['walk'] | null> {
  const { kind, sweep, tally } = reading;
  const { claim, tenants, knownRows, wholeUpTo, digestScope, pages, ticks, lease, hasHoles } = sweep;
  const stop = new AbortController();
  const list = parts.source.sweep(kind, {
    knownRows,
    wholeUpTo,
    hasHoles,
    digestScope,
    signal: AbortSignal.any([stop.signal, ...(parts.signal ? [parts.signal] : [])]),
    knownPages: pages,
    tick: ticks.next,
    thorough: lease.completeSweeps === 0 || claim.isNew || hasHoles,
    ...(reopen && { reopen }),
  });
  const responses = requireTenant(list, { parts, kind, claim, tenants });
  const onLanded = ({ walk: { lastPage } }: ListResponse): void => {
    parts.onProgress?.({ kind: kind.name, lastPage, ...tally.counts() });
  };
  try {
    const last = await landArriving(parts, { sweep, tally, responses, stop, onLanded });
    return last?.walk ?? null;
  } finally {
    stop.abort();
  }
}
