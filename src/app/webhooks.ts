import { secretsIn } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { Sender } from '../feed/webhooks/sender.ts';
import type { SetEndpoint } from '../feed/webhooks/sync-endpoints.ts';
import { WEBHOOK_QUEUE, createWebhookQueue } from '../feed/webhooks/webhook-queue.ts';
import type { Engine } from '../jobs/engine.ts';
import type { Notifier } from '../jobs/notifier.ts';
import { createFaultLog } from '../lib/log/fault-log.ts';
import { repeat, atMostEvery } from '../lib/log/repeat.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { livingWorkers } from '../mirror/runs/worker-store.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';
import { watchAppends } from '../mirror/session/write-watch.ts';
import { dueEndpoints } from '../mirror/webhooks/endpoint-queue.ts';
import type { WebhookEndpoint } from '../mirror/webhooks/endpoint-store.ts';
import type { ServiceParts } from './queues.ts';

/** The endpoints of the settings. */
export function endpointsOf({ webhooks }: Config): readonly SetEndpoint[] {
  return Object.entries(webhooks.endpoints).map(([name, { secret, ...rest }]) => ({
    ...{ name, ...rest },
    secrets: secretsIn(secret),
  }));
}

/** Finds the secrets that the settings have for an endpoint; null = none. */
export function settingsSecrets(
  config: Config,
): (endpoint: Pick<WebhookEndpoint, 'name' | 'source'>) => readonly string[] | null {
  const secrets = new Map(endpointsOf(config).map((endpoint) => [endpoint.name, endpoint.secrets]));
  return ({ name, source }) => {
    const own = source === 'settings' ? (secrets.get(name) ?? []) : [];
    return own.length === 0 ? null : own;
  };
}

/** Tells the parts of this process that events may wait for delivery. */
export interface EventSignal {
  readonly fire: () => void;
  /** Returns the function that ends it. */
  readonly listen: (listener: () => void) => () => Promise<void>;
}

/** Watches a session for events: changes of records, and our own news. */
export function watchEvents(session: Session): { readonly session: Session; readonly events: EventSignal } {
  const listeners = new Set<() => void>();
  const fire = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const listen = (listener: () => void): (() => Promise<void>) => {
    listeners.add(listener);
    return () => Promise.resolve(void listeners.delete(listener));
  };
  const watched = watchAppends(session, ['changes', 'webhook_deliveries'], fire);
  return { session: watched, events: { fire, listen } };
}

interface WebhookParts extends Pick<ServiceParts, 'session' | 'clock' | 'logger' | 'owner'> {
  readonly sender: Sender;
  readonly events: EventSignal;
  /** Fires when this process is to end. */
  readonly stopping: AbortSignal;
}

/** Webhook endpoints as a queue of work rows. */
export function webhooksQueue(config: Config, parts: WebhookParts): WorkQueue {
  const { session, clock, owner, events } = parts;
  return createWebhookQueue({
    ...parts,
    owner: owner.name,
    random: Math.random,
    retrySeconds: config.webhooks.retrySeconds,
    secretsOf: settingsSecrets(config),
    onCommit: events.listen,
    onWorked: events.fire,
    livingOwners: () => livingWorkers(session, clock.now(), owner.isDead),
  });
}

/** Events that are committed so soon after each other share a search for due endpoints. */
const TOGETHER_MS = 25;

/** Wakes the queue of webhooks once there are events. Returns the function that ends it. */
export function wakeDeliverers(
  { clock, events }: Pick<WebhookParts, 'clock' | 'events'>,
  engine: Pick<Engine, 'wake'>,
): () => Promise<void> {
  const wake = (): void => {
    engine.wake(WEBHOOK_QUEUE.name);
  };
  return events.listen(atMostEvery(TOGETHER_MS, clock, wake));
}

/** How often a process looks for due endpoints that it has not told the others of. */
const TOLD_MS = 60_000;
const MOST_TOLD = 100;

/**
 * Notifies the processes that deliver of the events that this one commits. They poll as well. Returns a function that stops
 * it.
 */
export function notifyDeliverers(
  { session, clock, logger, events }: Pick<WebhookParts, 'session' | 'clock' | 'logger' | 'events'>,
  notifier: Notifier,
): () => Promise<void> {
  const faults = createFaultLog({ clock, logger, isTold: isAway });
  const task = async (): Promise<void> => {
    const due = await dueEndpoints(session, clock.now(), MOST_TOLD);
    if (due.length > 0) await notifier.notify(WEBHOOK_QUEUE, due);
  };
  const telling = repeat({ clock, faults, everyMs: TOLD_MS, name: 'notifying deliverers', task });
  const stopListening = events.listen(atMostEvery(TOGETHER_MS, clock, telling.wake));
  return async () => {
    await stopListening();
    await telling.stop();
  };
}
