import type { Beat } from './bell.ts';

/** What the heartbeats have said since one was heard. */
export interface Pulse {
  /** How many in a row did not come back. */
  readonly missed: number;
  /** How many of them the bell had taken. */
  readonly lost: number;
}

export const STEADY: Pulse = { missed: 0, lost: 0 };

export type Cure = 'none' | 'restart' | 'give up';

const RESTART_AFTER = 3;
const GIVE_UP_AFTER = 2 * RESTART_AFTER;

/**
 * Draws the conclusion from a heartbeat.
 *
 * Only a bell that takes rings and brings none is given up, since a new process may cure it. One that cannot be reached
 * at all would be out of a new process's reach too, and the rows are worked without it meanwhile.
 */
export function feelPulse(pulse: Pulse, beat: Beat): { readonly pulse: Pulse; readonly cure: Cure } {
  if (beat === 'heard') return { pulse: STEADY, cure: 'none' };
  if (beat === 'busy') return { pulse, cure: 'none' };
  const next = { missed: pulse.missed + 1, lost: pulse.lost + (beat === 'lost' ? 1 : 0) };
  if (beat === 'lost' && next.lost >= GIVE_UP_AFTER) return { pulse: next, cure: 'give up' };
  return { pulse: next, cure: next.missed % RESTART_AFTER === 0 ? 'restart' : 'none' };
}
