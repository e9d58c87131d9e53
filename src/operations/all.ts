import { approveDeletions, rejectDeletions } from './deletions.ts';
import type { AnyOperation } from './operation.ts';
import { abandonOutboxEntry, adoptOutboxEntry, resumeOutbox, retryOutboxEntry } from './outbox.ts';
import { applyCorrections, approveCorrections, undoCorrections } from './plans.ts';
import { pullOperation } from './pulls.ts';
import { addUser, removeUser } from './users.ts';
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  removeWebhook,
  replayWebhook,
  rotateWebhook,
  testWebhook,
} from './webhooks.ts';

/** Everything that a person may do by the API, and by forms of the dashboard where it has a notice. */
export const OPERATIONS: readonly AnyOperation[] = [
  pullOperation,
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
  removeUser,
];
