import type { Invariant } from './finding.ts';
import type { Personality } from './traits.ts';

/** Services that break a promise by themselves, so that no client can keep it; all others must hold every invariant. */
interface Limit {
  readonly why: string;
  readonly invariants: readonly Invariant[];
  readonly holds: (personality: Personality) => boolean;
}

const LIMITS: readonly Limit[] = [
  {
    why: 'the service says in its own words that it did nothing, and did it',
    invariants: ['doubled', 'denied'],
    holds: ({ refusal, refusedWhen }) => refusal === 'in its own JSON' && refusedWhen !== 'before the commit',
  },
  {
    why: 'the service shows the beginning of its list whatever page is asked for, and gives no sign that there is more',
    invariants: ['falsely certified', 'unequal', 'doubled'],
    holds: ({ asked, told }) => asked === 'page ignored' && told === 'nothing',
  },
];

export function mayBreak(personality: Personality, invariant: Invariant): boolean {
  return LIMITS.some(({ invariants, holds }) => invariants.includes(invariant) && holds(personality));
}
