import type { Clock } from '../lib/clock.ts';

/** A kind's counter while its lease is held: every request takes a tick when it is sent and one when it is answered. */
export interface Ticks {
  readonly next: () => number;
  /** The instant at which a tick was taken. */
  readonly instantOf: (tick: number) => Date;
  /** The latest tick. */
  readonly latest: () => number;
}

export function createTicks(from: number, clock: Clock): Ticks {
  const instants: number[] = [];
  return {
    next: () => from + instants.push(clock.now().getTime()),
    instantOf: (tick) => new Date(instants[tick - from - 1] ?? clock.now().getTime()),
    latest: () => from + instants.length,
  };
}
