import type { ListedKind } from '../catalog/kind.ts';
import { SyncError, describe } from '../lib/sync-error.ts';
import type { WorkQueue, WorkRef } from '../lib/work-queue.ts';
import {
  claimRun,
  closeDeadRuns,
  giveUpVerifying,
  raiseRun,
  resumeInterrupted,
} from '../mirror/runs/run-requests.ts';
import { findRun, finishRun } from '../mirror/runs/run-store.ts';
import { pagesAskedFor } from '../mirror/runs/slot-requests.ts';
import { startableRuns } from '../mirror/runs/startable-runs.ts';
import { goneOwners } from '../mirror/runs/worker-store.ts';
import { backfill } from '../pull/backfill/backfill.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullParts } from '../pull/run/parts.ts';
import type { PullSettings } from './pull-between.ts';
import { workVerify } from './work-verify.ts';

interface RunRules {
  readonly settings: PullSettings;
  /** Finds kinds by their names. @throws {UsageError} For a name that these settings do not know. */
  readonly kindsNamed: (names: readonly string[]) => readonly ListedKind[];
}

/** Requested runs as a queue of work rows: one at a time, so that no kind is swept twice at once. */
export function createRunsQueue(parts: PullParts, rules: RunRules): WorkQueue {
  const { session, clock, owner, logger } = parts;
  return {
    ...{ name: 'runs', jobPrefix: 'run', concurrency: 1 },
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
  const { session, clock, owner, logger } = parts;
  const claim = { ...ref, owner: owner.name, now: clock.now() };
  const names = await session.atomically((tx) => claimRun(tx, claim));
  if (names === null) return;
  try {
    await readKinds(parts, rules, { runId: ref.id, names });
    if (parts.signal?.aborted) await session.atomically((tx) => resumeInterrupted(tx, ref.id));
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    logger.error({ runId: ref.id, code: error.code }, describe(error));
    const end = { state: 'failed', reason: error.message, now: clock.now() } as const;
    await finishRun(session, { runId: ref.id, owner: owner.name }, end); // A kind may be unknown in this process; that must not stop other runs.
  }
}

async function readKinds(
  parts: PullParts,
  rules: RunRules,
  { runId, names }: { readonly runId: number; readonly names: readonly string[] },
): Promise<void> {
  const { session, clock, logger } = parts;
  const run = await findRun(session, runId, clock.now());
  const kinds = rules.kindsNamed(names);
  if (run?.command === 'verify') {
    await workVerify(parts, rules.settings, { runId, kinds, done: run.reports });
    return;
  }
  const settings = { runId, ...rules.settings };
  const [kind] = kinds;
  const pages = await pagesAskedFor(session, runId);
  if (pages === null || kind === undefined) {
    await pullKinds(parts, { kinds, acceptNewSource: false, ...settings });
    return;
  }
  const request = `--pages 1-${pages}`;
  const extent = { pages: { from: 1, to: pages } };
  const { state, detail } = await backfill(parts, { kind, extent, request, restart: true, ...settings });
  if (state !== 'complete') logger.warn({ runId, kind: kind.name, state }, detail ?? 'pages were not read');
}
