import { approveDeletions, rejectDeletions } from './deletions.ts';
import type { AnyOperation } from './operation.ts';
import { abandonOutboxEntry, adoptOutboxEntry, resumeOutbox, retryOutboxEntry } from './outbox.ts';
import { applyCorrections, approveCorrections, undoCorrections } from './plans.ts';
import { backfillOperation, pullOperation } from './pulls.ts';
import { addUser, changeRole, removeUser, rotateUser } from './users.ts';
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  removeWebhook,
  replayWebhook,
  rotateWebhook,
  testWebhook,
} from './webhooks.ts';

/** All operations of the API. Those with a notice also have a form on the dashboard. */
export const OPERATIONS: readonly AnyOperation[] = [
  pullOperation,
  backfillOperation,
  retryOutboxEntry,
  adoptOutboxEntry,
  abandonOutboxEntry,
  resumeOutbox,
  approveDeletions,
  rejectDeletions,
  approveCorrections,
  applyCorrections,
  undoCorrections,
  addWebhook,
  testWebhook,
  rotateWebhook,
  enableWebhook,
  disableWebhook,
  replayWebhook,
  removeWebhook,
  addUser,
  changeRole,
  rotateUser,
  removeUser,
];
