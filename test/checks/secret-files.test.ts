import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkAdminToken, checkSecretFiles } from '../../src/checks/secret-files.ts';
import { loadConfig, secretSettings } from '../../src/config/load-config.ts';
import { tempFolder } from '../support/temp-folder.ts';

test('a file that every user may read is named with the settings whose secrets it holds', () => {
  const [open, closed] = [join(tempFolder(), 'open.yaml'), join(tempFolder(), 'closed.yaml')];
  const text =
    'monitor: { pingUrl: http://127.0.0.1:9770/ping }\nqueue: { url: redis://:pass-word@127.0.0.1 }\n';
  for (const [file, mode] of [
    [open, 0o644],
    [closed, 0o600],
  ] as const)
    writeFileSync(file, text, { mode });
  const secrets = secretSettings(loadConfig({ env: {}, file: open }));
  expect(checkSecretFiles([open, closed], secrets)).toMatchObject([
    {
      ok: false,
      detail: `every user of this machine may read ${open}, which holds a secret: queue.url, monitor.pingUrl`,
      hint: `chmod 600 ${open}`,
    },
  ]);
});

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
