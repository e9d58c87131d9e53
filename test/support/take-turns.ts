import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** They reckon for half a minute and more, and leave no core idle. */
const RECKONING = /test\/(?:malformed|simulation|outbound-simulation|enumeration|soak)\//;
/** They start processes, and wait for them most of the time. */
const WAITING = /test\/end-to-end\//;

/**
 * Lets the files that take longest go first, one that reckons beside one that waits, so that neither core stands idle,
 * nor waits for the other at the end. Vitest would go by how long each took last time, which a clean clone cannot know.
 */
export class TakeTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const of = (pattern: RegExp) => sorted.filter(({ moduleId }) => pattern.test(moduleId));
    const rest = sorted.filter(({ moduleId }) => !RECKONING.test(moduleId) && !WAITING.test(moduleId));
    return [...inTurns(of(RECKONING), of(WAITING)), ...rest];
  }
}

function inTurns<T>(some: readonly T[], others: readonly T[]): T[] {
  const turns = Array.from({ length: Math.max(some.length, others.length) }, (_, at) => [
    some[at],
    others[at],
  ]);
  return turns.flat().filter((one) => one !== undefined);
}
