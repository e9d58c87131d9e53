import { defineConfig } from 'vitest/config';
import { TakeTurns } from './test/support/take-turns.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    sequence: { sequencer: TakeTurns },
    setupFiles: ['./test/canary/setup.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: ['default', './test/support/count-reporter.ts', './test/support/stall-reporter.ts'],
  },
});
