import { kindNamed } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { followChanges } from '../../feed/follow-changes.ts';
import { changesBetween, latestSeq, seqBeforeLatest } from '../../feed/read-changes.ts';
import type { RecordedChange } from '../../feed/read-changes.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { openExistingMirror } from '../open-mirror.ts';

export { changeLine } from '../../feed/follow-changes.ts';
export type { RecordedChange } from '../../feed/read-changes.ts';

export interface ChangesRequest {
  /** Where to begin: after a `seq`, or with a number of latest events. */
  readonly from: { readonly after: number } | { readonly latest: number };
  readonly kind: string | undefined;
  /** At most so many; Infinity for all. */
  readonly limit: number;
  /** Then wait for further ones. */
  readonly isFollowing: boolean;
}

/**
 * Yields change events in order; ends when the signal is aborted.
 *
 * @throws {UsageError} For an unknown kind.
 */
export async function* changes(
  config: Config,
  { from, kind, limit, isFollowing }: ChangesRequest,
  signal: AbortSignal,
): AsyncGenerator<RecordedChange> {
  if (kind !== undefined) kindNamed(config, kind);
  await using session = await openExistingMirror(config);
  const after = 'after' in from ? from.after : await seqBeforeLatest(session, kind, from.latest);
  let left = limit;
  if (left === 0) return;
  const events = isFollowing
    ? followChanges(session, { after, kind }, { clock: systemClock, signal })
    : changesBetween(session, { after, upTo: await latestSeq(session), kind }, signal);
  for await (const event of events) {
    yield event;
    if (--left === 0) return;
  }
}
