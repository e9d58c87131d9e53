import { defineConfig } from 'vitest/config';
import { TakeTurns } from './test/support/take-turns.ts';
import { filesOf, tierOf } from './test/support/tiers.ts';

export default defineConfig({
  test: {
    ...filesOf(tierOf(process.env)),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    sequence: { sequencer: TakeTurns },
    setupFiles: ['./test/canary/setup.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: [
      'default',
      './test/support/count-reporter.ts',
      './test/support/seconds-reporter.ts',
      './test/support/stall-reporter.ts',
    ],
  },
});
