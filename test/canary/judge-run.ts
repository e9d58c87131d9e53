import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { expectAllWatched, startsNotedIn, sumOf, talliesIn, tallyText } from './tally.ts';
import { tierOf } from '../support/tiers.ts';
import { expectNoLeaks, watch } from './watch.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where test files leave word of what they have looked at for secrets. */
    canaryFolder: string;
  }
}

/** Reports at the end of a run where secrets were looked for, and fails where one was found or a place left out. */
export function judgeRun(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-canary-'));
  project.provide('canaryFolder', folder);
  return async () => {
    const tallies = talliesIn(folder);
    const starts = startsNotedIn(folder);
    rmSync(folder, { recursive: true, force: true });
    const sum = sumOf([...tallies, watch.tally]);
    process.stdout.write(tallyText(sum));
    const files = await project.vitest.globTestSpecifications();
    // The other tiers have no test of some places.
    const hasAllPlaces = [null, 'all'].includes(tierOf(process.env));
    const isWhole = hasAllPlaces && starts >= files.length && project.config.testNamePattern === undefined;
    try {
      expectNoLeaks();
      if (isWhole) expectAllWatched(sum);
    } catch (error) {
      process.exitCode = 1; // Vitest only prints what is thrown after the tests.
      throw error;
    }
  };
}
