import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkAdminToken } from '../../src/checks/secret-files.ts';

test.each([
  null,
  ...Array.from({ length: 50 }, () => randomBytes(16).toString('hex')),
  ...Array.from({ length: 50 }, () => randomBytes(32).toString('base64url')),
])('the admin token %s is as good as random', (token) => {
  expect(checkAdminToken(token)).toEqual([]);
});

test.each(['abcdefgh'.repeat(4), 'changeme-'.repeat(4), 'password'.repeat(4), '0123456789'.repeat(4)])(
  'the admin token %s can be guessed',
  (token) => {
    expect(checkAdminToken(token)).toMatchObject([{ ok: false, code: 'secrets.weak' }]);
  },
);
