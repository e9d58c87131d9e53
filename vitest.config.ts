import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    setupFiles: ['./test/canary/setup.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: ['default', './test/support/count-reporter.ts', './test/support/stall-reporter.ts'],
  },
});
