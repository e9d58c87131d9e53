import type { Config } from '../config/settings.ts';
import type { WorkQueue } from '../jobs/work-queue.ts';
import { SyncError, describe } from '../lib/sync-error.ts';
import { claimRun, closeDeadRuns, raiseRun, requestedRuns } from '../mirror/run-requests.ts';
import type { RequestedRun } from '../mirror/run-requests.ts';
import { deadWorkers } from '../mirror/worker-store.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import { listedKinds } from './kinds.ts';
import type { ServiceParts } from './outbound-queue.ts';
import { pullSettings } from './pull.ts';

/** Runs that somebody asked for, as a queue of work rows: one at a time, so that no kind is swept twice at once. */
export function runsQueue(config: Config, parts: ServiceParts): WorkQueue {
  const { session, clock, owner } = parts;
  return {
    ...{ name: 'runs', jobPrefix: 'run', concurrency: 1 },
    due: (limit) => requestedRuns(session, clock.now(), limit),
    raise: (ring) => session.atomically((tx) => raiseRun(tx, ring)),
    work: (ring, signal) => workRun(config, { ...parts, signal }, ring),
    takeOver: async () => {
      const now = clock.now();
      const dead = await deadWorkers(session, now, owner.isDead);
      // A pull by hand is no worker: only its own process tells whether it lives.
      const isDead = (name: string): boolean => dead.includes(name) || owner.isDead(name);
      await session.atomically((tx) => closeDeadRuns(tx, { isDead, now }));
    },
  };
}

async function workRun(
  config: Config,
  parts: ServiceParts & { readonly signal: AbortSignal },
  ring: RequestedRun,
): Promise<void> {
  const { session, clock, owner, logger } = parts;
  const claim = { ...ring, owner: owner.name, now: clock.now() };
  const names = await session.atomically((tx) => claimRun(tx, claim));
  if (names === null) return;
  try {
    const kinds = listedKinds(config, names);
    await pullKinds(parts, { kinds, runId: ring.id, acceptNewSource: false, ...pullSettings(config) });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    logger.error({ runId: ring.id, code: error.code }, describe(error)); // The run's row says so too.
  }
}
