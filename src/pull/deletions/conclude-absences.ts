import {
  FEW,
  planDeletions,
  type Absence,
  type AbsentRow,
  type DeletionPlan,
  type DeletionRules,
  type OldestRows,
} from '../../diff/plan-deletions.ts';
import { holdAfter, type HoldClock } from '../../diff/hold-clock.ts';
import {
  forgetAbsences,
  readAbsences,
  readProtected,
  saveAbsences,
} from '../../store/records/deletion-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { saveHold } from '../../store/kinds/kind-lease.ts';
import { lastReading } from '../../store/kinds/kind-standing.ts';
import { heldNews, leaveNews } from '../../store/webhooks/news.ts';
import { countMissingRows } from '../../store/outbox/attempts-and-links.ts';
import { countLive } from '../../store/kinds/status-store.ts';
import { tombstoneRecords, proveByAsking, releaseOverdue } from './prove-by-asking.ts';
import {
  bySweeps,
  byCertificate,
  retrievalMethod,
  type AbsenceEvidence,
  type RetrievalMethod,
} from './absence-evidence.ts';
import type { ListCertification } from '../run/list-sightings.ts';
import type { PullParts } from '../run/parts.ts';
import { readCheck, rememberShown, saveWaves } from '../../store/records/hold-store.ts';
import { areAtOneEnd, readOldest } from './oldest-rows.ts';
import { sortAbsent } from './absent-rows.ts';
import { underLease, type Sweep } from '../run/sweep.ts';
import type { Tally } from '../land/tally.ts';

/** The conclusions about rows that the list does not show. */
export interface Concluded {
  readonly deleted: number;
  /** Live rows that the list does not have, and that wait for proof or for a person. */
  readonly waiting: number;
  /** Those of them that an answer named, and that no list has shown; some have no row. */
  readonly neverListed: number;
  /** Live rows that are older than the list, and that a person has decided to keep. */
  readonly kept: number;
  /** Live rows outside the list that are not records as far as is known. */
  readonly surplus: number;
  /** Consecutive sweeps in which the control could not be retrieved. */
  readonly controlFailures: number;
}

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
): Promise<Concluded> {
  const noted = await readAbsences(parts.session, sweep.kind.name);
  const retrieval = await retrievalMethod(parts, sweep, reading.tally.latestId());
  const evidence = evidenceOf(sweep, reading, noted, retrieval.isUsable);
  if (evidence === null)
    return {
      deleted: 0,
      waiting: 0,
      neverListed: 0,
      kept: 0,
      surplus: 0,
      controlFailures: retrieval.failures,
    };
  const facts = { ...reading, noted, retrieval, evidence };
  const { absent, neverListed, surplus } = await sortAbsent(parts.session, sweep, evidence, {
    outside: reading.outside,
    noted: noted.keys(),
  });
  const planned = { ...facts, ...(await planFor(parts, sweep, facts, absent)) };
  await note(parts, sweep, planned);
  for (const absence of planned.plan.note) noted.set(absence.id, absence);
  const { deleted, controlFailures } = await prove(parts, sweep, planned);
  const missingRows = evidence.isCertified ? await countMissingRows(parts.session, sweep.kind.name) : 0;
  const kept = planned.oldest?.isOutOfScope === true ? planned.oldest.ids.size : 0;
  return {
    deleted,
    surplus,
    waiting: absent.length + neverListed + missingRows - deleted - kept,
    neverListed: absent.filter((row) => !row.isListed).length + neverListed + missingRows,
    kept,
    controlFailures,
  };
}

interface KnownAbsences extends CompleteReading {
  readonly noted: Map<string, Absence>;
  readonly retrieval: RetrievalMethod;
  readonly evidence: AbsenceEvidence;
}

interface PlannedAbsences extends KnownAbsences {
  readonly plan: DeletionPlan;
  readonly hold: HoldClock | null;
  readonly oldest: OldestRows | null;
}

/** Collects the proof that absent records are gone: from the list, or by retrieving them. */
async function prove(
  parts: PullParts,
  sweep: Sweep,
  { plan, hold, retrieval: { path, failures }, noted, rules, evidence, oldest }: PlannedAbsences,
) {
  let deleted = await tombstoneRecords(parts, sweep, plan.tombstones, 'list');
  if (deleted > 0 && oldest?.isOutOfScope !== true) {
    const isWave = oldest !== null && plan.tombstones.every((id) => oldest.ids.has(id));
    await underLease(parts, sweep, (tx) => saveWaves(tx, sweep.kind.name, isWave ? oldest.waves + 1 : 0));
  }
  const asking = path && { ...path, noted, rules };
  const rounds: (boolean | null)[] = [];
  if (asking && plan.ask.length > 0) {
    const asked = await proveByAsking(parts, sweep, { ...asking, ids: plan.ask });
    deleted += asked.deleted;
    rounds.push(asked.isSound);
  }
  // Time mends nothing about records with a reason.
  const ids = plan.held.ids.filter((id) => noted.get(id)?.why === undefined);
  const held = { hold, ids, asking, rules, isCertified: evidence.isCertified };
  rounds.push(await releaseOverdue(parts, sweep, held));
  // A sweep that missed some control counts as failed; one that retrieved nothing, or was stopped meanwhile, does not count.
  const failed = parts.signal?.aborted ? failures : failures + 1;
  if (rounds.includes(false)) return { deleted, controlFailures: failed };
  return { deleted, controlFailures: rounds.includes(true) ? 0 : failures };
}

/**
 * The evidence of a reading about absent rows: a certificate at least as new as the previous complete sweep; else, for
 * kinds with single retrieval, two complete sweeps. Null if there is neither evidence nor an absence to take back.
 */
function evidenceOf(
  sweep: Sweep,
  reading: CompleteReading,
  noted: ReadonlyMap<string, Absence>,
  isUsable: boolean,
): AbsenceEvidence | null {
  const { verdict, unseenSince } = reading.list;
  const before = isUsable && !reading.tally.hasHoles() ? sweep.lease.lastCompleteSweep : null;
  const { rows } = reading.tally.counts();
  const isNewEnough = verdict.certified && (before === null || (verdict.point.sweep ?? -1) >= before);
  if (isNewEnough) return byCertificate(verdict, rows);
  if (before === null && noted.size === 0) return null;
  const unseen = unseenSince(before ?? 0);
  return bySweeps({ unseen, sweep: sweep.began ?? 0, before, noted, isEmpty: rows === 0 });
}

const NOTED_TOGETHER = 500;

/** Notes the plan in batches: other writers must not wait for a mass disappearance. */
async function note(
  parts: PullParts,
  sweep: Sweep,
  { plan, hold, evidence, list: { sentAt } }: PlannedAbsences,
): Promise<void> {
  const { kind, lease } = sweep;
  const absences = plan.note.map((absence) => {
    const tick = evidence.lastShown(absence.id);
    return { ...absence, lastSeenAt: tick === null ? null : sentAt(tick) };
  });
  const changes = Math.max(absences.length, plan.forget.length, hold === lease.hold ? 0 : 1);
  const isFirst = hold !== null && lease.hold === null; // Its notification shows these records.
  const isLarger = hold !== null && hold.records > (lease.hold?.records ?? 0);
  for (let from = 0; from < changes; from += NOTED_TOGETHER) {
    const to = from + NOTED_TOGETHER;
    await underLease(parts, sweep, async (tx) => {
      if (from === 0 && isLarger) await leaveNews(tx, heldNews(kind.name, hold, parts.clock.now()));
      if (from === 0) await saveHold(tx, kind.name, hold); // First: the restarted clock of a hold must not be lost.
      await forgetAbsences(tx, kind.name, plan.forget.slice(from, to));
      await saveAbsences(tx, kind.name, absences.slice(from, to));
      if (to >= changes && isFirst)
        await rememberShown(tx, kind.name, await readCheck(tx, kind.name, 'held'));
    });
  }
}

async function planFor(
  parts: PullParts,
  options: Sweep,
  absences: KnownAbsences,
  absent: readonly AbsentRow[],
) {
  const { evidence, list, noted, retrieval, rules } = absences;
  const { kind, knownRows, lease } = options;
  const { session, clock } = parts;
  const fresh = absent.filter((row) => !noted.has(row.id));
  // Counting reads an index of the whole table; so few are never held for their number.
  const isFew = absent.length < Math.min(FEW, rules.holdAbove.rows + 1);
  const live = isFew ? 0 : await countLive(session, kind.name);
  const now = clock.now();
  const { isCertified, isEmpty, sweep } = evidence;
  // An emptied list that is not known exactly has no control: its rows are held nevertheless.
  const canAsk = retrieval.path !== null || (retrieval.isUsable && !isCertified);
  const isAsLong = !canAsk && fresh.length > 0 && (await isAsLongAsBefore(session, kind.name, list));
  const isCutOff =
    (!canAsk && mayBeCutOff(list, knownRows - noted.size)) ||
    (isAsLong && (await areAtOneEnd(session, kind, fresh, absent)));
  const oldest = canAsk || !isCertified ? null : await readOldest(session, kind, absent);
  const plan = planDeletions(
    {
      absent,
      noted,
      live,
      canAsk,
      isCertified,
      sweep,
      now,
      isProtected: await readProtected(session, kind.name, now),
      isDoubtful: isEmpty || isCutOff,
      oldest,
      mayBeMixed: list.mayBeMixed,
    },
    rules,
  );
  return { plan, oldest, hold: holdAfter(lease.hold, plan.held, isCutOff, now) };
}

/** A round number of rows, the same as before, and no total: the sign of a silent limit. */
function mayBeCutOff({ verdict }: ListCertification, rowsBefore: number): boolean {
  if (!verdict.certified || verdict.point.total !== null || verdict.size !== rowsBefore) return false;
  return verdict.size % 10 === 0 || verdict.size % 25 === 0;
}

async function isAsLongAsBefore(
  db: Queryable,
  kind: string,
  certification: ListCertification,
): Promise<boolean> {
  const last = await lastReading(db, kind);
  const isWhole = last?.state === 'certified' || last?.state === 'complete';
  return isWhole && certification.verdict.certified && certification.verdict.size === last.rows;
}
