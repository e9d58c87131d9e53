import { afterAll, beforeEach, inject, vi } from 'vitest';
import type * as logging from '../../src/lib/log/logger.ts';
import type * as errors from '../../src/lib/sync-error.ts';
import type * as serving from '../../src/app/create-server.ts';
import type * as faults from '../../src/source/http/errors.ts';
import type * as answers from '../../src/source/http/write-answer.ts';
import { writeTally, noteStart } from './tally.ts';
import { expectNoLeaks, watch } from './watch.ts';
import './watch-process.ts';
import { servedPorts } from './watch-sockets.ts';

// What is watched where it is made: every logger, every server and every error that a test gets to see.
vi.mock('../../src/lib/log/logger.ts', async (load) => {
  const original = await load<typeof logging>();
  const { watchedLines } = await import('./watch-logs.ts');
  const createLogger: typeof logging.createLogger = (options) => original.createLogger(watchedLines(options));
  return { ...original, createLogger };
});
vi.mock('../../src/app/create-server.ts', async (load) => {
  const original = await load<typeof serving>();
  const { watchServer } = await import('./watch-sockets.ts');
  const createServer: typeof serving.createServer = async (...args) => {
    const app = await original.createServer(...args);
    watchServer(app);
    return app;
  };
  return { ...original, createServer };
});
vi.mock('../../src/lib/sync-error.ts', async (load) => {
  const original = await load<typeof errors>();
  const { watchedErrors } = await import('./watch-errors.ts');
  const { SyncError, UsageError } = original;
  return { ...original, SyncError: watchedErrors(SyncError), UsageError: watchedErrors(UsageError) };
});
vi.mock('../../src/source/http/errors.ts', async (load) => {
  const original = await load<typeof faults>();
  const { keepingErrors } = await import('./watch-errors.ts');
  const redactErrors: typeof faults.redactErrors = (where, status, token) => {
    const hide = original.redactErrors(where, status, token);
    return (read) => keepingErrors(() => hide(read))();
  };
  return { ...original, redactErrors };
});
vi.mock('../../src/source/http/write-answer.ts', async (load) => {
  const original = await load<typeof answers>();
  const { keepingErrors } = await import('./watch-errors.ts');
  return { ...original, readWriteAnswer: keepingErrors(original.readWriteAnswer) };
});

noteStart(inject('canaryFolder'));

// What is said first to be done at a test's end is done last: when its files and databases are gone, too.
beforeEach(({ onTestFinished }) => {
  onTestFinished(() => {
    expectNoLeaks();
  });
});

afterAll(() => {
  writeTally(inject('canaryFolder'), watch.readTally());
  servedPorts.clear(); // The next file in this worker may meet others there.
  expectNoLeaks(); // What came to light after the last test: in what the whole file shares.
});
