import type { ListedKind } from '../catalog/kind.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { WorkQueue, WorkRef } from '../lib/work-queue.ts';
import {
  claimRun,
  closeDeadRuns,
  giveUpVerifying,
  raiseRun,
  resumeInterrupted,
} from '../mirror/runs/run-requests.ts';
import { findRun, finishRun } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { pagesAskedFor } from '../mirror/runs/slot-requests.ts';
import { startableRuns } from '../mirror/runs/open-runs.ts';
import { isAway } from '../mirror/session/errors.ts';
import { goneOwners } from '../mirror/runs/worker-store.ts';
import { backfill } from '../pull/backfill.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullParts } from '../pull/run/parts.ts';
import type { PullSettings } from './verify-kinds.ts';
import { beginTelling, tellRun } from './tell-run.ts';
import { workVerify } from './work-verify.ts';

interface RunRules {
  readonly settings: PullSettings;
  /** Finds kinds by their names. @throws {UsageError} For a name that these settings do not know. */
  readonly kindsNamed: (names: readonly string[]) => readonly ListedKind[];
}

/**
 * Requested runs as a queue of work rows: one at a time, so that no kind is swept twice at once. The signal fires when the
 * service is asked to stop.
 */
export function createRunsQueue(parts: PullParts, rules: RunRules): WorkQueue {
  const { session, clock, owner, logger } = parts;
  return {
    name: 'runs',
    jobPrefix: 'run',
    concurrency: 1,
    due: (limit) => startableRuns(session, { limit, now: clock.now(), isDead: owner.isDead }),
    raise: (ref) => session.atomically((tx) => raiseRun(tx, ref)),
    work: (ref, signal) => workRun({ ...parts, signal }, rules, ref),
    takeOver: async () => {
      const now = clock.now();
      const isDead = await goneOwners(session, now, owner.isDead);
      const late = await session.atomically(async (tx) => {
        await closeDeadRuns(tx, { isDead, now });
        return giveUpVerifying(tx, now);
      });
      for (const runId of late)
        logger.warn({ runId }, 'found no idle moment within a day to verify: see schedules.verify');
    },
  };
}

async function workRun(parts: PullParts, rules: RunRules, ref: WorkRef): Promise<void> {
  const { session, clock, owner } = parts;
  const beginning = await beginTelling(parts, ref.id);
  const claim = { ...ref, owner: owner.name, now: clock.now() };
  const names = await session.atomically((tx) => claimRun(tx, claim));
  if (names === null) return;
  const reports = await carryOut(parts, rules, { runId: ref.id, names });
  await tellRun(parts, beginning, reports);
}

interface ClaimedRun {
  readonly runId: number;
  readonly names: readonly string[];
}

/** Works a claimed run; a fault of its own ends it, and no other. Returns reports that no row has. */
async function carryOut(parts: PullParts, rules: RunRules, run: ClaimedRun): Promise<readonly KindReport[]> {
  const { session, clock, owner } = parts;
  const { runId } = run;
  try {
    const reports = await readKinds(parts, rules, run);
    if (parts.signal?.aborted) await session.atomically((tx) => resumeInterrupted(tx, runId));
    return reports;
  } catch (error) {
    if (isAway(error) || !(error instanceof SyncError)) throw error;
    const end = { state: 'failed', reason: error.message, now: clock.now() } as const;
    await finishRun(session, { runId, owner: owner.name }, end); // A kind may be unknown in this process; that must not stop other runs.
    return [];
  }
}

async function readKinds(
  parts: PullParts,
  rules: RunRules,
  { runId, names }: ClaimedRun,
): Promise<readonly KindReport[]> {
  const { session, clock } = parts;
  const run = await findRun(session, runId, clock.now());
  const kinds = rules.kindsNamed(names);
  if (run?.command === 'verify') {
    await workVerify(parts, rules.settings, { runId, kinds, done: run.reports });
    return [];
  }
  const settings = { runId, ...rules.settings };
  const [kind] = kinds;
  const pages = await pagesAskedFor(session, runId);
  if (pages === null || kind === undefined) {
    await pullKinds(parts, { kinds, acceptNewSource: false, ...settings });
    return [];
  }
  const request = `--pages 1-${pages}`;
  const extent = { pages: { from: 1, to: pages } };
  const report = await backfill(parts, { kind, extent, request, restart: true, ...settings });
  return [{ ...report, certifiedAt: null, deleted: 0 }];
}
