import type { PullSummary } from '../../app/pull.ts';
import type { Outcome } from '../../app/commands/push.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';

/** The exit codes of the commands. */
export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3, internal: 70 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof SyncError ? EXIT.failed : EXIT.internal;
}

const LACKING_NOTHING: ReadonlySet<string> = new Set(['complete', 'certified', 'busy']);

type Ended = Pick<PullSummary['kinds'][number], 'state' | 'reason'>;

/**
 * A pull that got nothing at all has failed; one that got some kinds and not others is incomplete. A kind that another
 * process is reading lacks nothing: it is read.
 */
export function exitCodeOfPull({ kinds }: { readonly kinds: readonly Ended[] }): ExitCode {
  if (kinds.every(({ state }) => LACKING_NOTHING.has(state))) return EXIT.done;
  const isBarred = kinds.every(
    ({ state, reason }) =>
      state === 'busy' || (state === 'aborted' && reason !== 'interrupted') || reason === 'other_source',
  );
  return isBarred ? EXIT.failed : EXIT.incomplete;
}

/**
 * Entries that the service refused or a person abandoned have failed; entries under way, or waiting for a person, are
 * incomplete.
 */
export function exitCodeOfPush(outcomes: readonly Pick<Outcome, 'state'>[]): ExitCode {
  if (outcomes.every(({ state }) => state === 'done')) return EXIT.done;
  const hasFailed = ({ state }: Pick<Outcome, 'state'>): boolean =>
    state === 'rejected' || state === 'abandoned';
  return outcomes.every((outcome) => outcome.state === 'done' || hasFailed(outcome))
    ? EXIT.failed
    : EXIT.incomplete;
}
