import { expect, test } from 'vitest';
import { checkMail } from '../../../src/features/notify/checks.ts';
import { startMailServer } from './mail-server.ts';
import { canary } from '../../support/canary.ts';

test('a mail server is greeted, and nothing is sent', async () => {
  const server = await startMailServer(canary('smtp-password'));
  expect(await checkMail({ mail: { url: server.url } })).toMatchObject([
    { ok: true, detail: expect.stringContaining('answers EHLO') as string },
  ]);
  const wrong = server.url.replace('garage:', 'garage:x');
  expect(await checkMail({ mail: { url: wrong } })).toMatchObject([
    { ok: false, code: 'mail.refused', detail: expect.stringContaining('EAUTH') as string },
  ]);
  expect(server.letters).toEqual([]);
});

test.each([
  ['smtp://127.0.0.1:1', 'ECONNREFUSED'],
  ['smtp://nowhere.invalid:1', /ENOTFOUND|EAI_AGAIN/],
])('of %s the cause is named', async (url, code) => {
  const [result] = await checkMail({ mail: { url } });
  expect(result?.detail).toMatch(code);
});
