import type { Certificate } from '../../diff/certify.ts';
import { MAX_CONTROL_FAILURES, type Absence } from '../../diff/decide-deletions.ts';
import type { Unseen } from '../../diff/spans.ts';
import type { LiveRow } from '../../store/records/tombstone-store.ts';
import { withUsableRetrieve, type RetrievableKind } from '../../catalog/kind.ts';
import { SourceError, type SourceReason } from '../../source/http/errors.ts';
import type { PullParts } from '../run/parts.ts';
import type { Ticks, Sweep } from '../run/sweep.ts';

/** The evidence that shows which live rows a list does not have. */
export interface AbsenceEvidence {
  /** The list is known exactly; if not, complete sweeps did not show the rows, which alone proves nothing. */
  readonly isCertified: boolean;
  /** The starting tick of the sweep that proves the absence. */
  readonly sweep: number;
  /** The list had no row at all. */
  readonly isEmpty: boolean;
  /** No response to a later request shows the row or wrote it. */
  readonly isOutside: (row: LiveRow) => boolean;
  /** The tick at which the last response that showed the record was sent; null where none is kept. */
  readonly lastShown: (id: string) => number | null;
  /** Ids of records that may be absent, as far as responses that are kept have shown them. */
  readonly suspects: () => string[];
  /** Live rows that cannot be suspected, because their records were shown. */
  readonly shown: number;
}

/** @param shown Records that the sweep saw. */
export function certificateEvidence(certificate: Certificate, shown: number): AbsenceEvidence {
  const { point, size, isInList, wasShownSince, lastShown, absent: suspects } = certificate;
  return {
    isCertified: true,
    sweep: point.sweep ?? 0,
    isEmpty: size === 0,
    isOutside: (row) => row.response < point.sent && !isInList(row.id) && !wasShownSince(row.id),
    lastShown,
    suspects,
    shown,
  };
}

/**
 * Returns the rows that two consecutive complete sweeps did not show, and earlier absent rows that are still missing. Every
 * response since the first of the two counts, also of failed sweeps; a row written since then is not absent.
 *
 * @param sweeps `sweep`, `before`: the ticks at which this one and the complete one before it began; null = no other counts.
 */
export function sweepEvidence(sweeps: {
  readonly unseen: Unseen;
  readonly sweep: number;
  readonly before: number | null;
  readonly noted: ReadonlyMap<string, Absence>;
  readonly isEmpty: boolean;
}): AbsenceEvidence {
  const { unseen, sweep, before, noted, isEmpty } = sweeps;
  const lastKnown = (row: LiveRow): number => Math.max(row.response, unseen.lastShown(row.id) ?? -Infinity);
  const missedSince = (id: string): number => Math.max(before ?? -1, noted.get(id)?.sweep ?? -1);
  return {
    isCertified: false,
    sweep,
    isEmpty,
    lastShown: unseen.lastShown,
    isOutside: (row) => lastKnown(row) <= missedSince(row.id),
    suspects: before === null ? () => [] : unseen.ids,
    shown: before === null ? Infinity : unseen.shown,
  };
}

interface RetrievedAnswers {
  readonly gone: readonly string[];
  readonly there: readonly string[];
  /** By record: why the answer proves neither presence nor absence. */
  readonly unclear: ReadonlyMap<string, string>;
  readonly isControlFound: boolean;
}

const UNSOUND: RetrievedAnswers = { gone: [], there: [], unclear: new Map(), isControlFound: false };

/**
 * Asks the service for records that its list no longer has.
 *
 * @param request `control`: a record that the sweep has just seen. A path proves other records gone only if it finds the control,
 * before and after (`isControlFound`); else there are no answers.
 */
export async function retrieveAbsent(
  parts: PullParts,
  request: {
    readonly kind: RetrievableKind;
    readonly ids: readonly string[];
    readonly control: string;
    readonly ticks: Ticks;
  },
): Promise<RetrievedAnswers> {
  const checkPresence = (id: string): Promise<Presence> =>
    retrievePresence(parts, request.kind, id, request.ticks);
  if ((await checkPresence(request.control)) !== 'there') return UNSOUND;
  const answers = await Promise.all(
    request.ids.map(async (id) => ({ id, presence: await checkPresence(id) })),
  );
  if ((await checkPresence(request.control)) !== 'there') return UNSOUND;
  const gone: string[] = [];
  const there: string[] = [];
  const unclear = new Map<string, SourceReason>();
  for (const { id, presence } of answers)
    if (presence === 'gone') gone.push(id);
    else if (presence === 'there') there.push(id);
    else unclear.set(id, presence);
  return { gone, there, unclear, isControlFound: true };
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
    const { record } = await parts.source.retrieve(kind, id, {
      tick: ticks.next,
      ...(parts.signal && { signal: parts.signal }),
    });
    return record === null ? 'gone' : 'there';
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return error.reason;
  }
}

/** How records of a kind can be retrieved one by one. */
export interface RetrievalMethod {
  /** Null if retrieving can prove nothing in this sweep. */
  readonly path: { readonly kind: RetrievableKind; readonly control: string } | null;
  /** Records of the kind can be retrieved, even if this sweep has shown none that could be the control. */
  readonly isUsable: boolean;
  readonly failures: number;
}

/** A path that failed in three sweeps is tried with the control first, because it may work again. */
export async function retrievalMethod(
  parts: PullParts,
  sweep: Sweep,
  control: string | null,
): Promise<RetrievalMethod> {
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
