import { defineConfig } from 'vitest/config';
import { TakeTurns } from './test/support/take-turns.ts';
import { filesOf, tierOf } from './test/support/tiers.ts';

const { shared, alone } = filesOf(tierOf(process.env));

/** Ends what hangs, on the slowest machine as well: how long something takes is no concern of these tests. */
const HANGS_MS = 600_000;

const each = {
  testTimeout: HANGS_MS,
  hookTimeout: HANGS_MS,
  expect: { poll: { timeout: HANGS_MS / 2 } },
  setupFiles: [
    './test/support/count-processor.ts',
    './test/canary/setup.ts',
    './test/support/draw-from-seed.ts',
  ],
};

const projects = [
  { test: { ...each, name: 'shared', isolate: false, ...shared } },
  { test: { ...each, name: 'alone', isolate: true, ...alone } },
];

export default defineConfig({
  test: {
    projects: projects.filter(({ test }) => test.include.length > 0),
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'], // Other workers use the cores meanwhile.
    maxWorkers: 5, // On two cores: most tests wait for processes, databases and timers some of the time.
    sequence: { sequencer: TakeTurns },
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: [
      'default',
      './test/support/count-reporter.ts',
      './test/support/seconds-reporter.ts',
      './test/support/stall-reporter.ts',
    ],
  },
});
