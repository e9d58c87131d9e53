import type { ListedKind } from '../catalog/kind.ts';
import { presenceDrift } from '../diff/field-drift.ts';
import { discoverColumns } from '../mirror/discover-columns.ts';
import { readListShape, saveDrift, saveListShape } from '../mirror/drift-store.ts';
import type { Drift } from '../mirror/drift-store.ts';
import { MirrorError } from '../mirror/errors.ts';
import { saveVanished } from '../mirror/field-store.ts';
import type { KnownField } from '../mirror/field-store.ts';
import { closeQuarantined } from '../mirror/issue-store.ts';
import { releaseKind } from '../mirror/kind-lease.ts';
import { redecode } from '../mirror/redecode.ts';
import { saveKindReport } from '../mirror/run-store.ts';
import type { KindReport } from '../mirror/run-store.ts';
import type { Transaction } from '../mirror/session.ts';
import { pruneSightings } from '../mirror/sighting-store.ts';
import type { Sweep } from './land-page.ts';
import type { PullParts } from './parts.ts';
import type { Tally } from './tally.ts';

export interface SweepResult {
  readonly report: KindReport;
  readonly tally: Tally;
  readonly startedAt: Date;
  /** What the kind's fields had shown before the sweep. */
  readonly fieldsBefore: ReadonlyMap<string, KnownField>;
}

/** Ends a sweep: discovered fields become columns, what has changed in the answers is noted, the lease goes back. */
export async function endSweep(parts: PullParts, sweep: Sweep, result: SweepResult): Promise<void> {
  const { report, tally, startedAt } = result;
  const now = parts.clock.now();
  const isComplete = report.state === 'complete';
  if (isComplete) await addColumns(parts, sweep.kind);
  await parts.session.atomically(async (tx) => {
    await releaseKind(tx, sweep.lease, { ...report, isComplete, hasChanges: tally.changes() > 0, now });
    if (isComplete) await noteDrift(tx, sweep, { ...result, now });
    if (isComplete) await closeQuarantined(tx, sweep.kind.name, { seen: tally.quarantined, now });
    await pruneSightings(tx, sweep.kind.name);
    await saveKindReport(tx, sweep.runId, { report, startedAt });
  });
}

async function addColumns({ session, clock, logger }: PullParts, kind: ListedKind): Promise<void> {
  try {
    await redecode(session, await discoverColumns(session, kind, clock.now()), clock.now());
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === 'mirror.locked')) throw error;
    logger.warn({ kind: kind.name }, 'a reader holds the table: its new columns come with the next sweep');
  }
}

async function noteDrift(
  tx: Transaction,
  { kind, lease }: Sweep,
  { tally, fieldsBefore, now }: SweepResult & { readonly now: Date },
): Promise<void> {
  const drifts = presenceDrift(fieldsBefore, tally.fields);
  for (const { code, field } of drifts) {
    if (code === 'vanished_field') await saveVanished(tx, kind.name, { field, since: now });
    if (code === 'returned_field') await saveVanished(tx, kind.name, { field, since: null });
  }
  const shape = tally.shape();
  const before = await readListShape(tx, kind.name);
  await saveListShape(tx, kind.name, shape);
  if (lease.completeSweeps === 0) return; // The first reading is what later ones are compared with.
  const reshaped: Drift[] = (['envelope', 'pageSize'] as const)
    .filter((part) => before[part] !== shape[part])
    .map((part) => ({
      kind: kind.name,
      code: part === 'envelope' ? 'envelope' : 'page_size',
      field: null,
      detail: `was ${before[part] ?? 'unknown'}, now ${shape[part] ?? 'unknown'}`,
    }));
  await saveDrift(tx, [...drifts.map((drift) => ({ kind: kind.name, ...drift })), ...reshaped], now);
}
