import type { Config } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { livingWorkers } from '../mirror/runs/worker-store.ts';
import type { Session } from '../mirror/session/session.ts';
import type { SendMark } from '../outbound/freeze/freeze.ts';
import { outboxWork } from '../outbound/work/outbox-work.ts';
import type { Owner } from '../pull/run/parts.ts';
import type { Source } from '../source/source.ts';
import { allKinds } from './kinds.ts';
import type { QueueName } from './queue-names.ts';

/** The dependencies of the background service's outbox work. */
export interface ServiceParts {
  readonly session: Session;
  readonly source: Source;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: Owner;
}

/** The outbox as a queue of work rows. */
export function outboundQueue(config: Config, parts: ServiceParts & { readonly mark: SendMark }): WorkQueue {
  const { session, clock, owner } = parts;
  const work = outboxWork({
    ...{ ...parts, owner: owner.name, random: Math.random, kinds: allKinds(config) },
    rules: { ...config.outbound, ignoreFields: config.diff.ignoreFields },
  });
  return {
    ...{
      ...work,
      name: 'outbox' satisfies QueueName,
      jobPrefix: 'ob',
      concurrency: config.source.concurrency,
    },
    // With writes off nothing is sent, but entries of dead processes are still freed.
    due: (limit) => (config.outbound.writes === 'on' ? work.due(limit) : Promise.resolve([])),
    takeOver: async () => {
      const living = await livingWorkers(session, clock.now(), owner.isDead);
      await work.takeOver((other) => !living.has(other));
    },
  };
}
