import { doubled, lost, openForEver, overwritten } from './entry-truths.ts';
import type { Finding } from './finding.ts';
import type { Recording } from './history.ts';
import { brokenChains, falselyCertified, falselyDeleted, invented, unequal } from './mirror-truths.ts';

/** Everything in a recording that the truth contradicts; empty = all is well. */
export function check(recording: Recording): readonly Finding[] {
  return [
    ...doubled(recording),
    ...lost(recording),
    ...falselyCertified(recording),
    ...falselyDeleted(recording),
    ...overwritten(recording),
    ...openForEver(recording),
    ...brokenChains(recording),
    ...unequal(recording),
    ...invented(recording),
  ];
}
