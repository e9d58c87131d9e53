import { deletionOperations } from './deletions.ts';
import type { AnyOperation } from './operation.ts';
import { outboxOperations } from './outbox.ts';
import { planOperations } from '../features/plans/operations/plans.ts';
import { pullOperations } from './pulls.ts';
import { userOperations } from './users.ts';
import { webhookOperations } from './webhooks.ts';

/** All operations of the API. Those with a notice also have a form on the dashboard. */
export const OPERATIONS: readonly AnyOperation[] = [
  ...pullOperations,
  ...outboxOperations,
  ...deletionOperations,
  ...planOperations,
  ...webhookOperations,
  ...userOperations,
];
