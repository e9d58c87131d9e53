import { allKinds, requireKnownKind, requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { readLiveOwners } from '../store/runs/worker-store.ts';
import type { SendCounter } from '../outbound/freeze.ts';
import { createOwnSends } from '../outbound/own-sends.ts';
import { startStopwatch } from '../outbound/stopwatch.ts';
import { outboxWork } from '../outbound/send/outbox-work.ts';
import type { PullParts } from '../pull/parts.ts';
import { createPing } from '../runs/ping.ts';
import { createRunsQueue } from '../runs/runs-queue.ts';
import { pullSettings } from './pull.ts';
import { schedulesOf } from './schedules.ts';

/** Requested runs as a queue of work rows. */
export function runsQueue(config: Config, parts: PullParts): WorkQueue {
  const listedKinds = (names: readonly string[]) => requireListedKinds(config, names);
  const anyKind = (name: string) => requireKnownKind(config, name);
  const ping = createPing(config.monitor.pingUrl, parts);
  const schedules = schedulesOf(config);
  return createRunsQueue(parts, { settings: pullSettings(config), listedKinds, anyKind, ping, schedules });
}

/** The outbox as a queue of work rows. */
export function outboundQueue(config: Config, parts: PullParts, sendCounter: SendCounter): WorkQueue {
  const { session, clock } = parts;
  const work = outboxWork({
    ...parts,
    sendCounter,
    ownSends: createOwnSends(),
    waits: { stopwatch: startStopwatch(clock), random: Math.random },
    kinds: allKinds(config),
    rules: {
      ...config.outbound,
      graceSeconds: config.deletions.graceSeconds,
      ignoreFields: config.diff.ignoreFields,
    },
  });
  return {
    ...work,
    name: 'outbox',
    concurrency: config.source.concurrency,
    // With writes off nothing is sent, but entries of dead processes are freed all the same.
    due: (limit) => (config.outbound.writes === 'on' ? work.due(limit) : Promise.resolve([])),
    releaseStaleClaims: async () => {
      const liveOwners = await readLiveOwners(session);
      await work.releaseStaleClaims((ownerName) => liveOwners.has(ownerName));
    },
  };
}
