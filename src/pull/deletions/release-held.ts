import { isOverdue } from '../../diff/plan-deletions.ts';
import type { HoldClock, DeletionRules } from '../../diff/plan-deletions.ts';
import { instantText } from '../../lib/time/clock.ts';
import { releaseHeld } from '../../mirror/records/deletion-store.ts';
import { saveHold } from '../../mirror/kinds/kind-lease.ts';
import type { PullParts } from '../run/parts.ts';
import { askOnce } from './prove-by-asking.ts';
import type { Asking } from './prove-by-asking.ts';
import type { Sweep } from '../state/sweep.ts';
import { underLease } from './under-lease.ts';

/** Held records retrieved in each sweep, in turn: a hold of thousands must not cost thousands each time. */
const HELD_ASKED = 20;

interface HeldRecords {
  readonly hold: HoldClock | null;
  /** The records that were retrieved longest ago first. */
  readonly ids: readonly string[];
  /** How to retrieve them; null if only the list can show them. */
  readonly asking: Omit<Asking, 'ids'> | null;
  readonly rules: DeletionRules;
  /** The list is known exactly. */
  readonly isCertified: boolean;
}

/**
 * Ends a hold if the settings allow that: retrieves some of the held records, restarts the clock if one of them
 * exists, and releases all to their proof once they have been gone long enough.
 *
 * @returns Whether the control was found before and after; null if none was retrieved.
 */
export async function releaseOverdue(
  parts: PullParts,
  sweep: Sweep,
  { hold, ids, asking, rules, isCertified }: HeldRecords,
): Promise<boolean | null> {
  if (hold === null || typeof rules.releaseHeldAfterHours !== 'number') return null;
  if (asking === null) {
    if (isCertified) await releaseIfOverdue(parts, sweep, { hold, rules });
    return null;
  }
  const some = ids.slice(0, HELD_ASKED);
  const { newlyGone, unlisted, isSound } = await askOnce(parts, sweep, { ...asking, ids: some });
  if (unlisted.length > 0) {
    const records = hold.records - unlisted.length;
    const clock = records === 0 ? null : { since: parts.clock.now(), records };
    await underLease(parts, sweep, (tx) => saveHold(tx, sweep.kind.name, clock));
  } else if (isSound && newlyGone.length === some.length)
    await releaseIfOverdue(parts, sweep, { hold, rules });
  return isSound;
}

/** Releases a hold to its proof and reports that no person has reviewed it. */
async function releaseIfOverdue(
  parts: PullParts,
  sweep: Sweep,
  { hold, rules }: { readonly hold: HoldClock; readonly rules: DeletionRules },
): Promise<void> {
  if (!isOverdue(hold, parts.clock.now(), rules)) return;
  const kind = sweep.kind.name;
  const records = await underLease(parts, sweep, async (tx) => {
    await saveHold(tx, kind, null);
    return releaseHeld(tx, kind);
  });
  parts.logger.warn(
    { event: 'kind.released', kind, records, heldSince: instantText(hold.since) },
    'held deletions go on to their proof: deletions.releaseHeldAfterHours has passed, and nothing spoke against them',
  );
}
