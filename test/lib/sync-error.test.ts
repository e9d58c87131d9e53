import { expect, test } from 'vitest';
import { errorText as errorText, SyncError, UsageError, errorCode } from '../../src/lib/sync-error.ts';

test('keeps its code, hint and cause', () => {
  const cause = new Error('socket closed');
  const error = new SyncError('No answer.', { code: 'source.unreachable', hint: 'Check the URL.', cause });
  expect(error).toMatchObject({
    name: 'SyncError',
    code: 'source.unreachable',
    hint: 'Check the URL.',
    cause,
  });
});

test('a usage error is a sync error of its own name', () => {
  const error = new UsageError('No such kind.', { code: 'usage' });
  expect(error).toBeInstanceOf(SyncError);
  expect(error.name).toBe('UsageError');
});

test.each([
  [{ code: 'x' }, 'No answer.'],
  [{ code: 'x', hint: 'Check the URL.' }, 'No answer. Check the URL.'],
])('%j is told as %s', (details, text) => {
  expect(errorText(new SyncError('No answer.', details))).toBe(text);
});

test.each([
  [Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'ENOENT'],
  [Object.assign(new Error('of a driver'), { code: 7 }), ''],
  [new Error('plain'), ''],
  [{ code: 'ENOENT' }, ''],
  ['ENOENT', ''],
  [undefined, ''],
])('the code of %o is %j', (error, code) => {
  expect(errorCode(error)).toBe(code);
});
