import type { Kind, ListedKind } from '../catalog/kind.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { claimRun, closeStaleRuns, raiseRun, resumeInterrupted } from '../store/runs/run-requests.ts';
import { finishRun } from '../store/runs/run-store.ts';
import { startableRuns } from '../store/runs/open-runs.ts';
import { isRepeat } from '../store/runs/repeats.ts';
import { isDatabaseUnavailable } from '../db/session/errors.ts';
import { backfill } from '../pull/sweep/backfill.ts';
import type { PullParts, PullSettings } from '../pull/parts.ts';
import { parseExtent } from './extent.ts';
import { pullAndPing, type MonitorRules } from './ping.ts';
import { createRunLog } from './run-log.ts';

/** Requested runs as a queue of work rows: two at a time, so that a backfill holds up no pull. A fault ends only its own run. */
export function createRunsQueue(
  parts: PullParts,
  rules: MonitorRules & {
    readonly settings: PullSettings;
    /** Finds kinds by their names. @throws {UsageError} For a name that these settings do not know. */
    readonly listedKinds: (names: readonly string[]) => readonly ListedKind[];
    readonly anyKind: (name: string) => Kind;
  },
): WorkQueue {
  const { session, clock, owner } = parts;
  return {
    name: 'runs',
    concurrency: 2,
    due: (limit) => startableRuns(session, limit),
    raise: (ref) => session.atomically((tx) => raiseRun(tx, ref)),
    work: async (ref, signal) => {
      const runId = ref.id;
      const logRun = await createRunLog(parts, runId);
      const claim = { ...ref, owner, now: clock.now() };
      const run = await session.atomically((tx) => claimRun(tx, claim));
      if (run === null) return null;
      let fault: string | null = null;
      const { command, kinds, slot } = run;
      const working = { ...parts, signal };
      try {
        if (command === 'backfill') {
          const request = run.request ?? '';
          for (const kind of kinds.map(rules.anyKind)) {
            const extent = parseExtent(request);
            await backfill(working, { runId, kind, extent, request, ...rules.settings });
          }
        } else {
          const pulled = { kinds: rules.listedKinds(kinds), acceptNewSource: false };
          const monitor = { ...rules, isRepeat: isRepeat(slot) };
          await pullAndPing(working, { runId, ...pulled, ...rules.settings }, monitor);
        }
        if (signal.aborted) await session.atomically((tx) => resumeInterrupted(tx, runId));
      } catch (error) {
        if (isDatabaseUnavailable(error) || !(error instanceof SyncError)) throw error;
        const end = { state: 'failed', reason: error.message, now: clock.now() } as const;
        await finishRun(session, { runId, owner }, end); // A kind may be unknown in this process; that must not stop other runs.
        fault = error.code;
      }
      return logRun(fault);
    },
    releaseStaleClaims: async () => {
      await session.atomically((tx) => closeStaleRuns(tx, clock.now()));
    },
  };
}
