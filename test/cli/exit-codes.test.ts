import { expect, test } from 'vitest';
import { EXIT, exitCodeOfError } from '../../src/cli/exit-codes.ts';
import { SyncError, UsageError } from '../../src/lib/sync-error.ts';

test.each([
  ['a command that cannot be carried out', new UsageError('No.', { code: 'usage.no' }), EXIT.usage],
  ['a fault that a person can act on', new SyncError('No.', { code: 'source.unreachable' }), EXIT.failed],
  ['a bug', new TypeError('x is not a function'), EXIT.internal],
  ['a thrown text', 'no', EXIT.internal],
])('the exit code of %s', (_, error, code) => {
  expect(exitCodeOfError(error)).toBe(code);
});
