import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They reckon for half a minute and more, and leave no core idle. */
const RECKONING = /test\/(?:malformed|world|enumeration)\//;
/** They start processes, and wait for them most of the time. */
const WAITING = /test\/end-to-end\//;
/** So many short files come between two that wait: those take several times as long. */
const BETWEEN = 5;

/**
 * Lets the files that take longest go first, beside others that use a core while they wait, so that no core stands idle,
 * nor waits for the other at the end. Vitest would go by how long each took last time, which a clean clone cannot know.
 */
export class TakeTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const of = (pattern: RegExp) => sorted.filter(({ moduleId }) => pattern.test(moduleId));
    const reckoning = of(RECKONING);
    const waiting = of(WAITING);
    const rest = sorted.filter(({ moduleId }) => !RECKONING.test(moduleId) && !WAITING.test(moduleId));
    return [...spread(waiting.splice(0, reckoning.length), reckoning, 1), ...spread(waiting, rest, BETWEEN)];
  }
}

/** After each of some, so many others. */
function spread<T>(some: readonly T[], others: readonly T[], count: number): T[] {
  const mixed = some.flatMap((one, at) => [one, ...others.slice(at * count, (at + 1) * count)]);
  return [...mixed, ...others.slice(some.length * count)];
}
