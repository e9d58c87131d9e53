import type { Cron } from '../lib/cron.ts';
import { stretchesOf } from '../lib/zone-offsets.ts';
import type { Stretch } from '../lib/zone-offsets.ts';
import { latestMatch } from './cron-match.ts';

export interface SlotQuestion {
  readonly cron: Cron;
  readonly timezone: string;
  /** What came due up to here is dealt with. */
  readonly lastSlot: Date;
  readonly now: Date;
}

const DAY = 86_400_000;
const AT_ONCE = 32 * DAY; // So much of a long absence is looked through at a time, from its end.
const BEFORE = 2 * DAY; // A change of the clocks so long ago may still decide which local times are a repetition.

/**
 * The latest slot that came due after `lastSlot`, up to `now`; null where none did. Those before it are not made up for.
 *
 * A local time that the clocks skip comes due when they have jumped; one that they show twice, the first time. An expression
 * that means every hour is a rhythm instead: it comes due whenever the clocks show its minutes.
 */
export function dueSlot({ cron, timezone, lastSlot, now }: SlotQuestion): Date | null {
  const [after, end] = [lastSlot.getTime() + 1, now.getTime() + 1];
  for (let to = end; to > after; to -= AT_ONCE) {
    const from = Math.max(after, to - AT_ONCE);
    const slot = latestWithin(cron, stretchesOf(timezone, from - BEFORE, to), from);
    if (slot !== null) return new Date(slot);
  }
  return null;
}

/** The latest slot within the stretches, from an instant on. */
function latestWithin(cron: Cron, stretches: readonly Stretch[], from: number): number | null {
  const [first] = stretches;
  let shown = first === undefined ? 0 : first.from + first.offset; // The clocks have shown every local time before this.
  const latest = stretches.map((stretch) => {
    const slot = latestIn(cron, stretch, { from, shown });
    shown = Math.max(shown, stretch.to + stretch.offset);
    return slot;
  });
  return latest.findLast((slot) => slot !== null) ?? null;
}

function latestIn(
  cron: Cron,
  { from: begin, to, offset }: Stretch,
  { from, shown }: { readonly from: number; readonly shown: number },
): number | null {
  if (to <= from) return null;
  const first = cron.isRhythm ? begin + offset : shown;
  // What the clocks skipped comes due as the stretch begins.
  const earliest = begin >= from ? first : Math.max(first, from + offset);
  const match = latestMatch(cron, earliest, to + offset);
  return match === null ? null : Math.max(match - offset, begin);
}
