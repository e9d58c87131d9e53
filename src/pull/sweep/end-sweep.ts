import type { Kind } from '../../catalog/kind.ts';
import type { Spans } from '../../diff/spans.ts';
import { instantText } from '../../lib/time/clock.ts';
import { discoverColumns } from '../../mirror/shape/discover-columns.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { KnownField } from '../../mirror/kinds/field-store.ts';
import { closeQuarantined, closeRepairs } from '../../mirror/records/issue-store.ts';
import { writeMeta } from '../../mirror/kinds/meta.ts';
import { releaseKind } from '../../mirror/kinds/kind-lease.ts';
import type { KindLease } from '../../mirror/kinds/kind-lease.ts';
import { wakeAfterSweep } from '../../mirror/outbox/outbox-queue.ts';
import { prunePages } from '../../mirror/sightings/page-store.ts';
import { redecode } from '../../mirror/shape/redecode.ts';
import { saveKindReport } from '../../mirror/runs/run-store.ts';
import type { KindReport } from '../../mirror/runs/run-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import {
  oldSightings,
  pruneSightings,
  voidEnds,
  forgetUnlisted,
  readUnlisted,
  saveUnlisted,
} from '../../mirror/sightings/sighting-store.ts';
import { noteDrift, noteListIssues } from './note-findings.ts';
import type { StandingAfter } from './note-findings.ts';
import type { PullParts } from '../run/parts.ts';
import type { Ending, ListReading } from './read-list.ts';
import type { Concluded } from '../deletions/conclude-absences.ts';
import type { Sweep } from '../run/sweep.ts';
import type { Tally } from '../land/tally.ts';

interface SweepResult {
  readonly ending: Ending;
  readonly concluded: Concluded;
  readonly report: KindReport;
  readonly startedAt: Date;
  /** The kind's fields as known before the sweep. */
  readonly fieldsBefore: ReadonlyMap<string, KnownField>;
}

/** Complete sweeps without a certificate after which the baseline ends. */
const BASELINE_SWEEPS = 3;

/** Ends a sweep: gives discovered fields their columns, notes the findings about the list, releases the lease. */
export async function endSweep(parts: PullParts, reading: ListReading, result: SweepResult): Promise<void> {
  const { session, clock, owner } = parts;
  const { sweep } = reading;
  const { ending, report, startedAt } = result;
  if (ending.state === 'complete') await addColumns(parts, sweep.kind);
  const standing = standingAfter(sweep, result, clock.now());
  await session.atomically(async (tx) => {
    await release(tx, reading, { ...result, standing, now: clock.now() });
    if (ending.state === 'complete') await conclude(tx, reading, { ...result, standing, now: clock.now() });
    if (ending.state === 'invalid' && sweep.began !== null) await voidEnds(tx, sweep.kind.name, sweep.began);
    await saveKindReport(tx, { runId: sweep.runId, owner: owner.name }, { report, startedAt });
  });
  if (standing.baselineAt !== null) await session.makeDurable();
}

function standingAfter({ lease }: Sweep, { ending }: SweepResult, now: Date): StandingAfter {
  if (ending.state !== 'complete') return lease;
  const certifiedAt = latest(lease.certifiedAt, ending.verdict.certifiedAt);
  const isConcluded = certifiedAt !== null || lease.completeSweeps + 1 >= BASELINE_SWEEPS;
  return { certifiedAt, baselineAt: lease.baselineAt ?? (isConcluded ? instantText(now) : null) };
}

function latest(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b > a) ? b : a;
}

interface Conclusion extends SweepResult {
  readonly standing: StandingAfter;
  readonly now: Date;
}

async function release(tx: Transaction, { sweep, tally }: ListReading, result: Conclusion): Promise<void> {
  const { report, concluded, standing, now } = result;
  await releaseKind(tx, sweep.lease, {
    ...standing,
    state: report.state,
    reason: report.reason,
    isComplete: result.ending.state === 'complete',
    hasChanges: tally.changes() + concluded.deleted > 0,
    controlFailures: concluded.controlFailures,
    ...sweepsAfter(sweep, tally, result.ending),
    now,
  });
}

/** The count of complete sweeps afterwards: a hole may have hidden rows, and a broken sweep proves nothing. */
function sweepsAfter(
  { lease, began }: Sweep,
  tally: Tally,
  ending: Ending,
): Pick<KindLease, 'lastCompleteSweep' | 'uncertifiedSweeps'> {
  if (ending.state !== 'complete') return lease;
  return {
    lastCompleteSweep: tally.hasHoles() ? null : began,
    uncertifiedSweeps: ending.verdict.isOfThisSweep ? 0 : lease.uncertifiedSweeps + 1,
  };
}

/** Notes the conclusions that need a sweep over every page. */
async function conclude(tx: Transaction, { sweep, tally }: ListReading, result: Conclusion): Promise<void> {
  const { kind, began } = sweep;
  const { now, fieldsBefore } = result;
  await noteDrift(tx, sweep, { tally, fieldsBefore, now });
  await noteListIssues(tx, sweep, result);
  await noteWhole(tx, sweep, tally.wholeAt());
  await closeQuarantined(tx, kind.name, tally.quarantined, now);
  await prunePages(tx, kind.name, { lastPage: tally.lastPage(), began: began ?? 0 });
  if (result.ending.state === 'complete') await keepUnlisted(tx, kind.name, result.ending.verdict.spans);
  await pruneSightings(tx, kind.name);
  if (result.report.state === 'certified') await closeRepairs(tx, kind.name, result.startedAt, now);
  await wakeAfterSweep(tx, kind.name, now);
}

/** Remembers the length of a list that came whole instead of a later page. */
async function noteWhole(tx: Transaction, { kind, wholeUpTo }: Sweep, rows: number | null): Promise<void> {
  if (rows !== null && rows > wholeUpTo) await writeMeta(tx, `whole.${kind.name}`, String(rows));
}

/** Stores the rows that no remaining sighting shows, so that old sightings may be pruned. */
async function keepUnlisted(tx: Transaction, kind: string, spans: Spans): Promise<void> {
  const oldest = await oldSightings(tx, kind);
  if (oldest === null) return;
  await saveUnlisted(tx, kind, spans.lastAnsweredUpTo(oldest));
  const unlisted = await readUnlisted(tx, kind);
  const isShown = (id: string): boolean => spans.lastAnswered(spans.ids.find(id)) > oldest;
  await forgetUnlisted(tx, kind, unlisted.filter(isShown));
}

/**
 * Gives discovered fields their columns; does not wait long for a reader that locks the table. The elements of an array show
 * their fields only once they are decoded into its table, so it goes on until nothing new shows.
 */
export async function addColumns({ session, clock, logger }: PullParts, kind: Kind): Promise<void> {
  try {
    for (let [known, before]: [Kind, Kind | null] = [kind, null]; known !== before;) {
      before = known;
      known = await discoverColumns(session, before, clock.now());
      await redecode(session, known, { now: clock.now() });
    }
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === 'mirror.locked')) throw error;
    logger.warn({ kind: kind.name }, 'a reader holds the table: its new columns come with the next sweep');
  }
}
