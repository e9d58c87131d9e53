import { deletionOperations } from './deletions.ts';
import type { AnyOperation } from './operation.ts';
import { outboxOperations } from './outbox.ts';
import { pullOperations } from './pulls.ts';
import { userOperations } from './users.ts';
import { webhookOperations } from './webhooks.ts';

/** The operations of the core. Those with a notice also have a form on the dashboard. */
export const CORE_OPERATIONS: readonly AnyOperation[] = [
  ...pullOperations,
  ...outboxOperations,
  ...deletionOperations,
  ...webhookOperations,
  ...userOperations,
];
