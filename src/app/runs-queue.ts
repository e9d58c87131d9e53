import type { WorkRef } from '../lib/work-queue.ts';
import type { Config } from '../config/settings.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { SyncError, describe } from '../lib/sync-error.ts';
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
import { listedKinds } from './kinds.ts';
import type { ServiceParts } from './outbound-queue.ts';
import { pullSettings } from './pull.ts';
import type { QueueName } from './queue-names.ts';
import { workVerify } from './weekly-verify.ts';

/** Requested runs as a queue of work rows: one at a time, so that no kind is swept twice at once. */
export function runsQueue(config: Config, parts: ServiceParts): WorkQueue {
  const { session, clock, owner, logger } = parts;
  return {
    ...{ name: 'runs' satisfies QueueName, jobPrefix: 'run', concurrency: 1 },
    due: (limit) => startableRuns(session, { limit, now: clock.now(), isDead: owner.isDead }),
    raise: (ref) => session.atomically((tx) => raiseRun(tx, ref)),
    work: (ref, signal) => workRun(config, { ...parts, signal }, ref),
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

type WorkParts = ServiceParts & { readonly signal: AbortSignal };

async function workRun(config: Config, parts: WorkParts, ref: WorkRef): Promise<void> {
  const { session, clock, owner, logger } = parts;
  const claim = { ...ref, owner: owner.name, now: clock.now() };
  const names = await session.atomically((tx) => claimRun(tx, claim));
  if (names === null) return;
  try {
    await readKinds(config, parts, { runId: ref.id, names });
    if (parts.signal.aborted) await session.atomically((tx) => resumeInterrupted(tx, ref.id));
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    logger.error({ runId: ref.id, code: error.code }, describe(error));
    const end = { state: 'failed', reason: error.message, now: clock.now() } as const;
    await finishRun(session, { runId: ref.id, owner: owner.name }, end); // A kind may be unknown in this process; that must not stop other runs.
  }
}

async function readKinds(
  config: Config,
  parts: WorkParts,
  { runId, names }: { readonly runId: number; readonly names: readonly string[] },
): Promise<void> {
  const { session, logger } = parts;
  const run = await findRun(session, runId, parts.clock.now());
  if (run?.command === 'verify') {
    await workVerify(config, parts, { runId, names });
    return;
  }
  const settings = { runId, ...pullSettings(config) };
  const kinds = listedKinds(config, names);
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
