/** What the queues of work rows are called, whoever works them. */
export const QUEUE_NAMES = ['runs', 'outbox'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];
