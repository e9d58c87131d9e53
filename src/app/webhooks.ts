import type { Config } from '../config/settings.ts';
import type { Sender } from '../feed/webhooks/sender.ts';
import { createWebhookQueue } from '../feed/webhooks/webhook-queue.ts';
import type { Logger } from '../lib/log/logger.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { livingWorkers } from '../mirror/runs/worker-store.ts';
import type { Session } from '../db/session/session.ts';
import type { Owner } from '../pull/run/parts.ts';

interface WebhookParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: Owner;
  readonly sender: Sender;
  /** Fires when this process is to end. */
  readonly stopping: AbortSignal;
}

/** Webhook endpoints as a queue of work rows. */
export function webhooksQueue({ webhooks }: Config, parts: WebhookParts): WorkQueue {
  const { session, clock, logger, owner, sender, stopping } = parts;
  return createWebhookQueue({
    session,
    clock,
    logger,
    owner: owner.name,
    sender,
    retrySeconds: webhooks.retrySeconds,
    random: Math.random,
    stopping,
    livingOwners: () => livingWorkers(session, clock.now(), owner.isDead),
  });
}
