import {
  HOLD_MIN_ROWS,
  decideDeletions,
  type Absence,
  type AbsentRow,
  type DeletionDecision,
  type DeletionRules,
  type OldestRows,
} from '../../diff/decide-deletions.ts';
import { nextHold, type HoldClock } from '../../diff/hold-clock.ts';
import {
  forgetAbsences,
  readAbsences,
  readProtected,
  saveAbsences,
} from '../../store/records/deletion-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { saveHold } from '../../store/kinds/kind-lease.ts';
import { isNewHolder } from '../../store/kinds/token-holders.ts';
import { lastReading } from '../../store/kinds/kind-standing.ts';
import { addNotification } from '../../store/webhooks/notifications.ts';
import { countMissingRows } from '../../store/outbox/attempts-and-links.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { tombstoneRecords, proveByRetrieving } from './prove-by-retrieving.ts';
import {
  sweepEvidence,
  certificateEvidence,
  retrievalMethod,
  type AbsenceEvidence,
  type RetrievalMethod,
} from './absence-evidence.ts';
import type { ListCertification } from '../run/list-sightings.ts';
import type { PullParts } from '../run/parts.ts';
import { readCheck, rememberShown, saveWaves } from '../../store/records/hold-store.ts';
import { hasLeftAtOneEnd, readOldestRows } from './oldest-rows.ts';
import { sortAbsent } from './absent-rows.ts';
import { withLease, type Sweep } from '../run/sweep.ts';
import type { Tally } from '../land/tally.ts';

/** The conclusions about rows that the list does not show. */
export interface AbsenceConclusion {
  readonly deleted: number;
  /** Live rows that the list does not have, and that wait for proof or for a person. */
  readonly waiting: number;
  /** Those of them that an answer named, and that no list has shown; some have no row. */
  readonly neverListed: number;
  /** Live rows that are older than the list, and that a person has decided to keep. */
  readonly keptOlder: number;
  /** Live rows outside the list that are not records as far as is known. */
  readonly surplus: number;
  /** Consecutive sweeps in which the control could not be retrieved. */
  readonly controlFailures: number;
}

export const NO_ABSENCES = { deleted: 0, waiting: 0, neverListed: 0, keptOlder: 0, surplus: 0 };

interface CompleteReading {
  readonly list: ListCertification;
  readonly tally: Tally;
  /** Live rows that a certified list does not have. */
  readonly outside: readonly string[];
  readonly rules: DeletionRules;
}

/** Decides about rows that a completely read list does not have: suspicion, hold, proof, tombstone. */
export async function concludeAbsences(
  parts: PullParts,
  sweep: Sweep,
  reading: CompleteReading,
): Promise<AbsenceConclusion> {
  const noted = await readAbsences(parts.session, sweep.kind.name);
  const retrieval = await retrievalMethod(parts, sweep, reading.tally.latestId());
  const evidence = chooseEvidence(sweep, reading, noted, retrieval.isUsable);
  if (evidence === null) return { ...NO_ABSENCES, controlFailures: retrieval.failures };
  const facts = { ...reading, noted, retrieval, evidence };
  const { absent, neverListed, surplus } = await sortAbsent(parts.session, sweep, evidence, {
    outside: reading.outside,
    noted: noted.keys(),
  });
  const decided = { ...facts, ...(await decideAbsences(parts, sweep, facts, absent)) };
  await noteAbsences(parts, sweep, decided);
  for (const absence of decided.decision.toSave) noted.set(absence.id, absence);
  const { deleted, controlFailures } = await proveAbsences(parts, sweep, decided);
  const missingRows = evidence.isCertified ? await countMissingRows(parts.session, sweep.kind.name) : 0;
  const keptOlder = decided.oldest?.isOutOfScope === true ? decided.oldest.ids.size : 0;
  return {
    deleted,
    surplus,
    waiting: absent.length + neverListed + missingRows - deleted - keptOlder,
    neverListed: absent.filter((row) => !row.isListed).length + neverListed + missingRows,
    keptOlder,
    controlFailures,
  };
}

interface KnownAbsences extends CompleteReading {
  readonly noted: Map<string, Absence>;
  readonly retrieval: RetrievalMethod;
  readonly evidence: AbsenceEvidence;
}

interface DecidedAbsences extends KnownAbsences {
  readonly decision: DeletionDecision;
  readonly hold: HoldClock | null;
  readonly oldest: OldestRows | null;
}

/** Collects the proof that absent records are gone: from the list, or by retrieving them. */
async function proveAbsences(
  parts: PullParts,
  sweep: Sweep,
  { decision, retrieval: { path, failures }, noted, rules, oldest }: DecidedAbsences,
) {
  let deleted = await tombstoneRecords(parts, sweep, decision.tombstones, 'list');
  if (deleted > 0 && oldest?.isOutOfScope !== true) {
    const isWave = oldest !== null && decision.tombstones.every((id) => oldest.ids.has(id));
    await withLease(parts, sweep, (tx) => saveWaves(tx, sweep.kind.name, isWave ? oldest.waves + 1 : 0));
  }
  if (!path || decision.toRetrieve.length === 0) return { deleted, controlFailures: failures };
  const request = { ...path, noted, rules, ids: decision.toRetrieve };
  const result = await proveByRetrieving(parts, sweep, request);
  deleted += result.deleted;
  if (result.isControlFound) return { deleted, controlFailures: 0 };
  return { deleted, controlFailures: parts.signal?.aborted ? failures : failures + 1 }; // One that was stopped does not count.
}

/**
 * The evidence of a reading about absent rows: a certificate at least as new as the previous complete sweep; else, for
 * kinds with single retrieval, two complete sweeps. Null if there is neither evidence nor an absence to take back.
 */
function chooseEvidence(
  sweep: Sweep,
  reading: CompleteReading,
  noted: ReadonlyMap<string, Absence>,
  isUsable: boolean,
): AbsenceEvidence | null {
  const { certification, unseenSince, hasTwoTokens } = reading.list;
  if (hasTwoTokens) return null;
  const before = isUsable && !reading.tally.hasHoles() ? sweep.lease.lastCompleteSweep : null;
  const { rows } = reading.tally.counts();
  const isNewEnough =
    certification.certified && (before === null || (certification.point.sweep ?? -1) >= before);
  if (isNewEnough) return certificateEvidence(certification, rows);
  if (before === null && noted.size === 0) return null;
  const unseen = unseenSince(before ?? 0);
  return sweepEvidence({ unseen, sweep: sweep.began ?? 0, before, noted, isEmpty: rows === 0 });
}

const NOTED_PER_TRANSACTION = 500;

/** Stores the decision in batches, so that a mass disappearance does not block other writers. */
async function noteAbsences(
  parts: PullParts,
  sweep: Sweep,
  { decision, hold, evidence, list: { sentAt } }: DecidedAbsences,
): Promise<void> {
  const { kind, lease } = sweep;
  const absences = decision.toSave.map((absence) => {
    const tick = evidence.lastShown(absence.id);
    return { ...absence, lastSeenAt: tick === null ? null : sentAt(tick) };
  });
  const changes = Math.max(absences.length, decision.toForget.length, hold === lease.hold ? 0 : 1);
  const isFirst = hold !== null && lease.hold === null; // Its notification shows these records.
  const isLarger = hold !== null && hold.records > (lease.hold?.records ?? 0);
  for (let from = 0; from < changes; from += NOTED_PER_TRANSACTION) {
    const to = from + NOTED_PER_TRANSACTION;
    await withLease(parts, sweep, async (tx) => {
      if (from === 0 && isLarger) {
        const facts = { records: hold.records, since: hold.since.toISOString() };
        const key = `${facts.since} ${facts.records}`;
        await addNotification(tx, { type: 'kind.held', kind: kind.name, facts, key, now: parts.clock.now() });
      }
      if (from === 0) await saveHold(tx, kind.name, hold); // First: the restarted clock of a hold must not be lost.
      await forgetAbsences(tx, kind.name, decision.toForget.slice(from, to));
      await saveAbsences(tx, kind.name, absences.slice(from, to));
      if (to >= changes && isFirst)
        await rememberShown(tx, kind.name, await readCheck(tx, kind.name, 'held'));
    });
  }
}

async function decideAbsences(
  parts: PullParts,
  sweep: Sweep,
  absences: KnownAbsences,
  absent: readonly AbsentRow[],
) {
  const { evidence, list, noted, retrieval, rules } = absences;
  const { kind, knownRows, lease } = sweep;
  const { session, clock } = parts;
  const fresh = absent.filter((row) => !noted.has(row.id));
  // Counting reads an index of the whole table; so few are never held for their number.
  const isFew = absent.length < Math.min(HOLD_MIN_ROWS, rules.holdAbove.rows + 1);
  const live = isFew ? 0 : await countLiveRows(session, kind.name);
  const now = clock.now();
  const { isCertified, isEmpty } = evidence;
  // An emptied list that is not known exactly has no control: its rows are held nevertheless.
  const canAsk = retrieval.path !== null || (retrieval.isUsable && !isCertified);
  const isAsLong = fresh.length > 0 && (await isAsLongAsBefore(session, kind.name, list));
  const isReplaced = isAsLong && (await hasLeftAtOneEnd(session, kind, fresh, absent));
  const isOfNewHolder =
    fresh.length > 0 && (await isNewHolder(session, kind.name, { holders: sweep.holders, now }));
  const isCutOff = !canAsk && mayBeCutOff(list, knownRows - noted.size);
  const oldest = canAsk || !isCertified ? null : await readOldestRows(session, kind, absent);
  const decision = decideDeletions(
    {
      absent,
      storedAbsences: noted,
      live,
      canRetrieve: canAsk,
      isCertified,
      sweep: evidence.sweep,
      now,
      isProtected: await readProtected(session, kind.name, now),
      doubt: isOfNewHolder ? 'rights' : doubtOf(isEmpty, isCutOff),
      isReplaced,
      oldest,
      canBeMixed: list.canBeMixed,
    },
    rules,
  );
  return {
    decision,
    oldest,
    hold: nextHold(lease.hold, decision.held, now),
  };
}

const doubtOf = (isEmpty: boolean, isCutOff: boolean): 'empty' | 'cut_off' | null =>
  isEmpty ? 'empty' : isCutOff ? 'cut_off' : null;

/** A round number of rows, the same as before, and no total: the sign of a silent limit. */
function mayBeCutOff({ certification }: ListCertification, rowsBefore: number): boolean {
  if (!certification.certified || certification.point.total !== null || certification.size !== rowsBefore)
    return false;
  return certification.size % 10 === 0 || certification.size % 25 === 0;
}

async function isAsLongAsBefore(
  db: Queryable,
  kind: string,
  { certification }: ListCertification,
): Promise<boolean> {
  const last = await lastReading(db, kind);
  const isWhole = last?.state === 'certified' || last?.state === 'complete';
  return isWhole && certification.certified && certification.size === last.rows;
}
