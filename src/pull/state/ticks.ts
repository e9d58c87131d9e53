import type { Clock } from '../../lib/clock.ts';

/** A kind's counter while its lease is held: every request takes a tick when it is sent and one when it is answered. */
export interface Ticks {
  readonly next: () => number;
  /** The instant at which a tick was taken. */
  readonly instantOf: (tick: number) => Date;
  /** The latest tick. */
  readonly latest: () => number;
  /** Continues from a later tick, after a write has raised the counter. */
  readonly leap: (tick: number) => void;
}

export function createTicks(from: number, clock: Clock): Ticks {
  const instants = new Map<number, number>();
  let latest = from;
  return {
    next: () => {
      instants.set(++latest, clock.now().getTime());
      return latest;
    },
    instantOf: (tick) => new Date(instants.get(tick) ?? clock.now().getTime()),
    latest: () => latest,
    leap: (tick) => {
      latest = Math.max(latest, tick);
    },
  };
}
