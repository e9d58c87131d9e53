import { expect, test } from 'vitest';
import { errorCode } from '../../src/lib/error-code.ts';

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
