import { expect, test } from 'vitest';
import { EXIT, exitCodeOfError, exitCodeOfPull } from '../../../src/cli/parts/command.ts';
import type { KindReport as KindEnd } from '../../support/command-line.ts';
import { SyncError, UsageError } from '../../../src/lib/sync-error.ts';

test.each([
  ['a command that cannot be carried out', new UsageError('No.', { code: 'usage.no' }), EXIT.usage],
  ['a fault that a person can act on', new SyncError('No.', { code: 'source.unreachable' }), EXIT.failed],
  ['a bug', new TypeError('x is not a function'), EXIT.internal],
  ['a thrown text', 'no', EXIT.internal],
])('the exit code of %s', (_, error, code) => {
  expect(exitCodeOfError(error)).toBe(code);
});

test.each([
  ['all lists read', ['certified', 'complete'], EXIT.done],
  ['kinds that another process reads', ['certified', 'busy'], EXIT.done],
  ['nothing but busy kinds', ['busy', 'busy'], EXIT.done],
  ['one kind that failed', ['certified', 'aborted'], EXIT.incomplete],
  ['nothing read at all', ['busy', 'aborted'], EXIT.failed],
])('the exit code of a pull: %s', (_, states, code) => {
  const kinds = states.map((state) => ({
    state: state as KindEnd['state'],
    reason: state === 'aborted' ? 'forbidden' : null,
  }));
  expect(exitCodeOfPull({ kinds })).toBe(code);
});
