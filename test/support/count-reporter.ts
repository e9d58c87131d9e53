import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with the one line that continuous integration reads: `N passed, N failed`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    // A file that fails to load, or an error outside any test, counts as a failure of its own.
    let failed = unhandledErrors.length;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        if (test.result().state === 'passed') passed++;
        else failed++;
      }
    }
    process.on('exit', () => {
      process.stdout.write(`${passed} passed, ${failed} failed\n`);
    });
  }
}
