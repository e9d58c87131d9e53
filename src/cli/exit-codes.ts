import type { PullReport } from '../app/pull.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';

/** What a command tells its caller. */
export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3, internal: 70 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof SyncError ? EXIT.failed : EXIT.internal;
}

/** A pull that got nothing at all has failed; one that got some kinds and not others is incomplete. */
export function exitCodeOfPull({ kinds }: PullReport): ExitCode {
  const ended = kinds.filter(({ state }) => state === 'complete' || state === 'certified');
  if (ended.length === kinds.length) return EXIT.done;
  const isBarred = kinds.every(({ state, reason }) => state === 'aborted' && reason !== 'interrupted');
  return isBarred ? EXIT.failed : EXIT.incomplete;
}
