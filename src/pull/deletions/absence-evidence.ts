import type { Certificate } from '../../diff/certify.ts';
import type { Absence } from '../../diff/absence.ts';
import { MAX_CONTROL_FAILURES } from '../../diff/decide-deletions.ts';
import { withUsableRetrieve, type RetrievableKind } from '../../catalog/kind.ts';
import { SourceError, type SourceReason } from '../../source/http/errors.ts';
import type { ListCertification } from '../certify-list.ts';
import type { PullParts } from '../parts.ts';
import type { Ticks, Sweep } from '../reading.ts';

/** The evidence that shows which live rows a list does not have. */
export interface AbsenceEvidence extends Pick<Certificate, 'lastShown'> {
  /** The list is known exactly; if not, complete sweeps did not show the rows, which alone proves nothing. */
  readonly isCertified: boolean;
  /** The starting tick of the sweep that proves the absence. */
  readonly sweep: number;
  /** The list had no row at all. */
  readonly isEmpty: boolean;
  /** No response shows the record since it was missed. */
  readonly lacks: (id: string) => boolean;
  /** The last tick before the record was missed; a row that was written later is not absent. */
  readonly missedSince: (id: string) => number;
}

/**
 * Chooses the evidence of a list: a certificate at least as new as the previous complete sweep; else, for kinds with single retrieval,
 * two complete sweeps running, and that earlier absent rows are still missing. Every response since the first of the two counts, also
 * of failed sweeps. Null if there is neither evidence nor an absence to take back.
 * @param before The tick at which the complete sweep before began; null = none counts.
 */
export function chooseEvidence(
  { certification, spans: { lastShown }, hasTwoTokens }: ListCertification,
  sweep: { readonly began: number; readonly before: number | null; readonly rows: number },
  noted: ReadonlyMap<string, Absence>,
): AbsenceEvidence | null {
  const { began, before, rows } = sweep;
  if (hasTwoTokens) return null;
  if (certification.certified && (before === null || (certification.point.sweep ?? -1) >= before)) {
    const { point, size, isInList, wasShownSince } = certification;
    const lacks = (id: string): boolean => !isInList(id) && !wasShownSince(id);
    const found = { isCertified: true, sweep: point.sweep ?? 0, isEmpty: size === 0, lastShown, lacks };
    return { ...found, missedSince: () => point.sent - 1 };
  }
  if (before === null && noted.size === 0) return null;
  const missedSince = (id: string): number => Math.max(before ?? -1, noted.get(id)?.sweep ?? -1);
  const lacks = (id: string): boolean =>
    (before !== null || noted.has(id)) && (lastShown(id) ?? -Infinity) <= missedSince(id);
  return { isCertified: false, sweep: began, isEmpty: rows === 0, lastShown, lacks, missedSince };
}

/** A request for single records. */
export interface RetrievalRequest {
  readonly kind: RetrievableKind;
  readonly ids: readonly string[];
  /** A record that the sweep has just seen. */
  readonly control: string;
}

/**
 * Asks the service for records that its list no longer has.
 * @returns The answers by record. Null if the control is not found, before and after: then the path proves nothing of others.
 */
export async function retrieveAbsent(
  parts: PullParts,
  request: RetrievalRequest & { readonly ticks: Ticks },
): Promise<ReadonlyMap<string, Presence> | null> {
  const ask = (id: string): Promise<Presence> => retrievePresence(parts, request.kind, id, request.ticks);
  if ((await ask(request.control)) !== 'there') return null;
  const answers = await Promise.all(request.ids.map(async (id) => [id, await ask(id)] as const));
  return (await ask(request.control)) === 'there' ? new Map(answers) : null;
}

/** The service's answer about one record; a reason if it proves neither presence nor absence. */
type Presence = 'there' | 'gone' | SourceReason;

/** Retrieves one record. */
async function retrievePresence(
  parts: PullParts,
  kind: RetrievableKind,
  id: string,
  ticks: Ticks,
): Promise<Presence> {
  try {
    const { record } = await parts.source.retrieve(kind, id, { tick: ticks.next, signal: parts.signal });
    return record === null ? 'gone' : 'there';
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return error.reason;
  }
}

/**
 * Finds out how records of a kind can be retrieved one by one. A path that failed in three sweeps is tried with the control first,
 * because it may work again.
 * @returns `path`: null if retrieving can prove nothing in this sweep. `isUsable`: records of the kind can be retrieved, even if this
 * sweep has shown none that could be the control.
 */
export async function retrievalMethod(parts: PullParts, sweep: Sweep, control: string | null) {
  const askable = withUsableRetrieve(sweep.kind);
  const failures = sweep.lease.controlFailures;
  const hasFailed = failures >= MAX_CONTROL_FAILURES;
  if (askable === null || control === null)
    return { path: null, isUsable: askable !== null && !hasFailed, failures };
  const path = { kind: askable, control };
  if (!hasFailed) return { path, isUsable: true, failures };
  const isUsable = (await retrievePresence(parts, askable, control, sweep.ticks)) === 'there';
  return { path: isUsable ? path : null, isUsable, failures: isUsable ? 0 : failures };
}
