import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { document, run, settingsFor } from '../support/command-line.ts';
import { startSquid } from '../support/squid.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const PASSWORD = canary('-of-the-proxy');

/** A program of squid's that lets one user in. */
const SIGN_IN = `while read user password; do [ "$user $password" = "office ${PASSWORD}" ] && echo OK || echo ERR; done`;

const WITH_PASSWORD = [
  `auth_param basic program /bin/sh -c '${SIGN_IN}'`,
  'acl known proxy_auth REQUIRED',
  'http_access allow known',
  'http_access deny all',
];

async function pullThrough(proxyUrl: URL) {
  await using service = await startSandbox({ size: 3 });
  const env = { ...settingsFor(service, await grownMirror()), BMS__SOURCE__MAX_ATTEMPTS: '1' };
  const proxied = { ...env, BMS__SOURCE__PROXY_URL: proxyUrl.href };
  const ended = await run(['pull', 'clients', '--json'], proxied);
  return { ended, doctor: () => run(['doctor'], proxied) };
}

/** Whether a proxy lets nothing through, and is named with its own status. */
async function expectNamed(proxyUrl: URL, words: string): Promise<void> {
  const { ended, doctor } = await pullThrough(proxyUrl);
  expect(document(ended)).toMatchObject({ kinds: [{ state: 'aborted', reason: 'unreachable' }] });
  const { stdout, stderr } = await doctor();
  expect(stdout + stderr).toContain(words);
}

test('a proxy that lets nobody through is named with its own status', async () => {
  await expectNamed(await startSquid(['http_access deny all']), 'the proxy answered 403');
});

test('a proxy that wants a password says so, and lets a pull through that has the right one', async () => {
  const proxy = await startSquid(WITH_PASSWORD);
  await expectNamed(proxy, 'the proxy answered 407: it requires a user and a password');
  proxy.username = 'office';
  proxy.password = PASSWORD;
  const { ended } = await pullThrough(proxy);
  expect(document(ended)).toMatchObject({ kinds: [{ state: 'certified' }] });
});
