/** Names of the queues of work rows. */
export type QueueName = 'runs' | 'outbox';
