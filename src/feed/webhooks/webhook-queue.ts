import type { WorkQueue } from '../../lib/work-queue.ts';
import { dueEndpoints, freeEndpoints, raiseEndpoint } from '../../mirror/webhooks/endpoint-queue.ts';
import { workEndpoint } from './work-endpoint.ts';
import type { DeliveryParts } from './work-endpoint.ts';

/** The name under which processes tell each other of due endpoints. */
export const WEBHOOK_QUEUE = { name: 'webhooks', jobPrefix: 'wh' } as const;

/** Endpoints worked at once: a slow one keeps its place for as long as it has deliveries, so there must be places for all. */
const ENDPOINTS_AT_ONCE = 200;

interface WebhookQueueParts extends DeliveryParts {
  /** Called after each work: an event may have been committed just as the endpoint was given back. */
  readonly onWorked: () => void;
  /** The owners of rows that are at work. */
  readonly livingOwners: () => Promise<ReadonlySet<string>>;
}

/** Endpoints as a queue of work rows. */
export function createWebhookQueue(parts: WebhookQueueParts): WorkQueue {
  const { session, clock, owner, livingOwners, onWorked, stopping } = parts;
  const inHand = new Map<number, number>(); // How many works of an endpoint run; one of them at most has claimed it.
  const count = (id: number, step: 1 | -1): void => {
    inHand.set(id, (inHand.get(id) ?? 0) + step);
  };
  return {
    ...WEBHOOK_QUEUE,
    concurrency: ENDPOINTS_AT_ONCE,
    due: async (limit) => (stopping.aborted ? [] : dueEndpoints(session, clock.now(), limit)),
    raise: (ref) => session.atomically((tx) => raiseEndpoint(tx, ref)),
    work: async (ref, signal) => {
      count(ref.id, 1);
      try {
        await workEndpoint(parts, ref, signal);
        setImmediate(onWorked);
      } finally {
        count(ref.id, -1);
      }
    },
    // An endpoint of ours that is not being worked was dropped by an error.
    takeOver: async () => {
      const living = await livingOwners();
      await session.atomically((tx) =>
        freeEndpoints(tx, (endpoint) =>
          endpoint.owner === owner ? (inHand.get(endpoint.id) ?? 0) === 0 : !living.has(endpoint.owner),
        ),
      );
    },
  };
}
