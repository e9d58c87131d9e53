import type { Recording } from '../recording.ts';
import { doubled, lost, strangers, unjournalled, unsettled } from './creates.ts';
import { mirrorFindings, wrongOrigins } from './events.ts';
import type { Finding } from './finding.ts';
import { needlesslyParked } from './parked.ts';
import { notHeld, overwritten } from './updates.ts';

/** Everything in a recording that the truth contradicts; empty = all is well. */
export function check(recording: Recording): readonly Finding[] {
  return [
    ...doubled(recording),
    ...lost(recording),
    ...strangers(recording),
    ...unjournalled(recording),
    ...unsettled(recording),
    ...needlesslyParked(recording),
    ...notHeld(recording),
    ...overwritten(recording),
    ...wrongOrigins(recording),
    ...mirrorFindings(recording),
  ];
}
