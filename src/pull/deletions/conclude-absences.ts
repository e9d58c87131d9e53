import type { AbsentRow } from '../../diff/absence.ts';
import { decideDeletions } from '../../diff/decide-deletions.ts';
import { HOLD_MIN_ROWS } from '../../diff/doubts.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import {
  forgetAbsences,
  readAbsences,
  readProtected,
  saveAbsences,
} from '../../store/records/deletion-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { writeMeta } from '../../store/kinds/meta.ts';
import { isNewHolder } from '../token-holders.ts';
import { lastReading } from '../../store/kinds/kind-standing.ts';
import { addNotification } from '../../store/notifications/notifications.ts';
import { countMissingRows } from '../../store/outbox/attempts-and-links.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { findSurplus } from './surplus-rows.ts';
import { liveRowsOf, type LiveRow } from './tombstone-store.ts';
import { tombstoneRecords, proveByRetrieving } from './prove-by-retrieving.ts';
import { chooseEvidence, retrievalMethod, type AbsenceEvidence } from './absence-evidence.ts';
import type { ListCertification } from '../certify-list.ts';
import type { PullParts } from '../parts.ts';
import { readCheck, rememberShown, saveWaves } from '../../store/records/hold-store.ts';
import { hasLeftAtOneEnd, readOldestRows } from './oldest-rows.ts';
import { withLease, type Sweep } from '../reading.ts';
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

type KnownAbsences = Awaited<ReturnType<typeof readKnown>>;

/** Reads what is known of absences before the live rows are compared with a list that was read to its end. */
export async function readKnown(parts: PullParts, sweep: Sweep, list: ListCertification, tally: Tally) {
  const noted = await readAbsences(parts.session, sweep.kind.name);
  const { lastCompleteSweep, controlFailures: failures } = sweep.lease;
  const retrieval = parts.signal?.aborted
    ? { path: null, isUsable: false, failures }
    : await retrievalMethod(parts, sweep, tally.list.latestId);
  const before = retrieval.isUsable && !tally.list.hasHoles ? lastCompleteSweep : null;
  const read = { began: sweep.began, before, rows: tally.counts().rows };
  return { list, noted, retrieval, holders: tally.holders, evidence: chooseEvidence(list, read, noted) };
}

/**
 * Decides about rows that a completely read list does not have: suspicion, hold, proof, tombstone.
 * @param outside Live rows that the list lacks by the evidence.
 */
export async function concludeAbsences(
  parts: PullParts,
  sweep: Sweep,
  known: KnownAbsences,
  outside: readonly string[],
): Promise<AbsenceConclusion> {
  const { evidence, noted, retrieval } = known;
  const { name } = sweep.kind;
  if (evidence === null) return { ...NO_ABSENCES, controlFailures: retrieval.failures };
  const { session } = parts;
  const rows = await liveRowsOf(session, name, outside);
  const { lastShown } = evidence;
  const surplus = await findSurplus(session, name, rows, { knownFrom: sweep.lease.knownFrom, lastShown });
  const records = rows.filter((row) => !surplus.has(row.id));
  const isAbsent = (row: LiveRow): boolean => row.response <= evidence.missedSince(row.id);
  const protectedIds = await readProtected(session, name, parts.clock.now());
  const absent = records.filter(isAbsent).map(({ id, listed, changedAt }): AbsentRow => ({
    id,
    isListed: listed !== null,
    isProtected: protectedIds.has(id),
    changedAt: parseInstant(changedAt),
    lastShown: lastShown(id) ?? 0,
  }));
  const evident = { ...known, evidence };
  const decided = { ...evident, ...(await decideAbsences(parts, sweep, evident, absent)) };
  const heldBefore = [...noted.values()].filter((absence) => absence.state === 'held').length;
  for (const id of decided.decision.toForget) noted.delete(id);
  for (const absence of decided.decision.toSave) noted.set(absence.id, absence);
  await noteAbsences(parts, sweep, decided, heldBefore);
  const { deleted, controlFailures } = await proveAbsences(parts, sweep, decided);
  const missingRows = evidence.isCertified ? await countMissingRows(session, name) : 0;
  const neverListed = records.filter((row) => !isAbsent(row) && row.listed === null).length + missingRows;
  const keptOlder = decided.oldest?.isOutOfScope === true ? decided.oldest.ids.size : 0;
  return {
    deleted,
    surplus: surplus.size,
    waiting: absent.length + neverListed - deleted - keptOlder,
    neverListed: absent.filter((row) => !row.isListed).length + neverListed,
    keptOlder,
    controlFailures,
  };
}

type EvidentAbsences = KnownAbsences & { readonly evidence: AbsenceEvidence };
type DecidedAbsences = EvidentAbsences & Awaited<ReturnType<typeof decideAbsences>>;

/** Collects the proof that absent records are gone: from the list, or by retrieving them. */
async function proveAbsences(
  parts: PullParts,
  sweep: Sweep,
  { decision, retrieval: { path, failures }, noted, oldest }: DecidedAbsences,
) {
  let deleted = await tombstoneRecords(parts, sweep, decision.tombstones, 'list');
  if (deleted > 0 && oldest?.isOutOfScope !== true) {
    const isWave = oldest !== null && decision.tombstones.every((id) => oldest.ids.has(id));
    await withLease(parts, sweep, (tx) => saveWaves(tx, sweep.kind.name, isWave ? oldest.waves + 1 : 0));
  }
  if (!path || decision.toRetrieve.length === 0) return { deleted, controlFailures: failures };
  const request = { ...path, noted, rules: sweep.rules.deletions, ids: decision.toRetrieve };
  const result = await proveByRetrieving(parts, sweep, request);
  deleted += result.deleted;
  if (result.isControlFound) return { deleted, controlFailures: 0 };
  return { deleted, controlFailures: parts.signal?.aborted ? failures : failures + 1 }; // One that was stopped does not count.
}

const NOTED_PER_TRANSACTION = 500;

/** Stores the decision in batches, so that a mass disappearance does not block other writers. */
async function noteAbsences(
  parts: PullParts,
  sweep: Sweep,
  { decision, evidence, noted, list: { sentAt } }: DecidedAbsences,
  heldBefore: number,
): Promise<void> {
  const kind = sweep.kind.name;
  const { toSave, toForget, held } = decision;
  const heldSince = [...noted.values()].flatMap(({ state, absentSince }) =>
    state === 'held' ? absentSince : [],
  );
  const absences = toSave.map((absence) => {
    const tick = evidence.lastShown(absence.id);
    return { ...absence, lastSeenAt: tick === null ? null : sentAt(tick) };
  });
  const changes = Math.max(absences.length, toForget.length);
  for (let from = 0; from < changes; from += NOTED_PER_TRANSACTION) {
    const to = from + NOTED_PER_TRANSACTION;
    await withLease(parts, sweep, async (tx, now) => {
      if (from === 0 && held.rule !== undefined) await writeMeta(tx, `held.${kind}`, held.rule);
      if (from === 0 && held.records > heldBefore) {
        const first = heldSince.reduce((earliest, since) => (since < earliest ? since : earliest));
        const facts = { records: held.records, since: first.toISOString() };
        const key = `${facts.since} ${facts.records}`;
        await addNotification(tx, { type: 'kind.held', kind, facts, key, now });
      }
      await forgetAbsences(tx, kind, toForget.slice(from, to));
      await saveAbsences(tx, kind, absences.slice(from, to));
      const isFirst = heldBefore === 0 && held.records > 0; // Its notification shows these records.
      if (to >= changes && isFirst) await rememberShown(tx, kind, await readCheck(tx, kind, 'held'));
    });
  }
}

async function decideAbsences(
  { session, clock }: PullParts,
  { kind, knownRows, rules: { deletions: rules } }: Sweep,
  { evidence, list, noted, retrieval, holders }: EvidentAbsences,
  absent: readonly AbsentRow[],
) {
  const { isCertified, isEmpty } = evidence;
  const absentIds = new Set(absent.map((row) => row.id));
  const fresh = absent.filter((row) => row.lastShown > (noted.get(row.id)?.sweep ?? -1)); // Or absent again.
  // Counting reads an index of the whole table; so few are never held for their number.
  const isFew = absent.length < Math.min(HOLD_MIN_ROWS, rules.holdAbove.rows + 1);
  const now = clock.now();
  // An emptied list that is not known exactly has no control: its rows are held nevertheless.
  const canRetrieve = retrieval.path !== null || (retrieval.isUsable && !isCertified);
  const isAsLong = fresh.length > 0 && (await isAsLongAsBefore(session, kind.name, list));
  const isOfNewHolder = fresh.length > 0 && (await isNewHolder(session, kind.name, { holders, now }));
  const isCutOff = !canRetrieve && (list.mayGoOn || mayBeCutOff(list, knownRows - noted.size));
  const oldest = canRetrieve || !isCertified ? null : await readOldestRows(session, kind, absentIds);
  const facts = {
    absent,
    storedAbsences: noted,
    live: isFew ? 0 : await countLiveRows(session, kind.name),
    canRetrieve,
    isCertified,
    sweep: evidence.sweep,
    now,
    doubt: isOfNewHolder ? 'rights' : doubtOf(isEmpty, isCutOff),
    isReplaced: isAsLong && (await hasLeftAtOneEnd(session, kind, fresh, absentIds)),
    oldest,
    canBeMixed: list.canBeMixed,
  } as const;
  return { decision: decideDeletions(facts, rules), oldest };
}

const doubtOf = (isEmpty: boolean, isCutOff: boolean) => (isEmpty ? 'empty' : isCutOff ? 'cut_off' : null);

/** A round number of rows, the same as before, and no total: the sign of a silent limit. */
function mayBeCutOff({ certification }: ListCertification, rowsBefore: number): boolean {
  if (!certification.certified || certification.point.total !== null || certification.size !== rowsBefore)
    return false;
  return certification.size % 10 === 0 || certification.size % 25 === 0;
}

async function isAsLongAsBefore(db: Queryable, kind: string, { certification }: ListCertification) {
  const last = await lastReading(db, kind);
  const isWhole = last?.state === 'certified' || last?.state === 'complete';
  return isWhole && certification.certified && certification.size === last.rows;
}
