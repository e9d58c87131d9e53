import type { Reporter, TestCase, TestModule } from 'vitest/node';

const LOOK_MS = 60_000;
const SLOW_MS = 180_000;
/** Longer than any test on the slowest machine that we know; `test:deep` has tests of hours. */
const LIMIT_MS = 45 * 60_000;

/**
 * Names what has run for long, and ends a run that does not end: a test whose thread is blocked outlasts its own
 * time limit, and would otherwise go unnamed until somebody stops the run.
 */
export default class StallReporter implements Reporter {
  readonly #running = new Map<string, { readonly name: string; readonly since: number }>();
  #endedAt = performance.now();

  onTestRunStart(): void {
    setInterval(() => {
      this.#look();
    }, LOOK_MS).unref();
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.set(module.id, { name: module.relativeModuleId, since: performance.now() });
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.id);
  }

  onTestCaseReady(test: TestCase): void {
    const name = `${test.module.relativeModuleId} > ${test.fullName}`;
    this.#running.set(test.id, { name, since: performance.now() });
  }

  onTestCaseResult(test: TestCase): void {
    this.#endedAt = performance.now();
    this.#running.delete(test.id);
  }

  #look(): void {
    const now = performance.now();
    const isOver = process.env['BMS_TEST_DEEP'] !== '1' && now - this.#endedAt > LIMIT_MS;
    for (const { name, since } of this.#running.values())
      if (isOver || now - since > SLOW_MS)
        process.stdout.write(`still running after ${Math.round((now - since) / 1_000)} s: ${name}\n`);
    if (!isOver) return;
    process.stdout.write(`No test has ended for ${LIMIT_MS / 60_000} minutes.\n`);
    process.exit(1);
  }
}
